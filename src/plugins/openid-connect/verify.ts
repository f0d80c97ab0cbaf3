import type { Claims } from '../../plugin-kit/auth/index.ts';
import { type Jose, jose } from './jose.ts';
import type { Provider, ProviderState } from './provider.ts';

export interface TokenRules {
  readonly algorithms: readonly string[];
  /** Null: the issuer of the provider. */
  readonly issuers: readonly string[] | null;
  /** Null: not checked here. */
  readonly audience: string | null;
  /** Seconds. */
  readonly leeway: number;
  /** Null: any. Lower case; '' means a missing type. */
  readonly types: readonly string[] | null;
}

export interface VerifiedToken {
  readonly claims: Claims;
  readonly expiresAt: number;
  /** The state whose keys verified the token. */
  readonly state: ProviderState;
}

/** Maximum keys that are tried for a token without a key id. */
const maxTries = 10;
/** Seconds. */
const clockDrift = 60;

/**
 * The claims of a token with valid signature, issuer, audience and times (RFC 7519, 7.2; RFC 8725); null otherwise.
 * Rejects until the keys of the provider are loaded.
 */
export async function verifyToken(provider: Provider, token: string, rules: TokenRules): Promise<VerifiedToken | null> {
  const state = await provider.state();
  const library = await jose();
  try {
    return await verifyWith(library, state, token, rules);
  } catch (error) {
    if (!(error instanceof library.errors.JWKSNoMatchingKey)) return null;
  }
  const newer = await provider.newer(state);
  return newer === null ? null : verifyWith(library, newer, token, rules).catch(() => null);
}

async function verifyWith(
  library: Jose,
  state: ProviderState,
  token: string,
  rules: TokenRules,
): Promise<VerifiedToken | null> {
  const options = {
    algorithms: [...rules.algorithms],
    issuer: [...(rules.issuers ?? [state.metadata.issuer])],
    clockTolerance: rules.leeway,
    requiredClaims: ['exp'],
    ...(rules.audience === null ? {} : { audience: rules.audience }),
  };
  const { payload, protectedHeader } = await library
    .jwtVerify(token, state.keys.resolve, options)
    .catch((error: unknown) => {
      if (!(error instanceof library.errors.JWKSMultipleMatchingKeys)) throw error;
      return tryEach(library, error, token, options);
    });
  const type = (protectedHeader.typ ?? '').toLowerCase();
  if (rules.types !== null && !rules.types.includes(type)) return null;
  const { exp = 0, iat } = payload;
  if (iat !== undefined && !(iat <= Date.now() / 1000 + Math.max(rules.leeway, clockDrift))) return null;
  return { claims: payload, expiresAt: exp + rules.leeway, state };
}

async function tryEach(
  library: Jose,
  candidates: InstanceType<Jose['errors']['JWKSMultipleMatchingKeys']>,
  token: string,
  options: Parameters<Jose['jwtVerify']>[2],
) {
  let tries = 0;
  for await (const key of candidates) {
    tries += 1;
    if (tries > maxTries) break;
    try {
      return await library.jwtVerify(token, key, options);
    } catch (error) {
      if (!(error instanceof library.errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new library.errors.JWSSignatureVerificationFailed();
}
