import { hash } from 'node:crypto';
import { type Claims, claimAt, claimList } from '../../plugin-kit/auth/index.ts';
import type { AccessContext, Reply } from '../../plugin-sdk/index.ts';
import { type AcceptedToken, type Admission, identityOf } from './identity.ts';
import type { Provider, ProviderState } from './provider.ts';
import type { Refusals } from './refusals.ts';
import type { OpenIdConfig } from './schema.ts';
import { type TokenRules, verifyToken } from './verify.ts';

const maxTokenLength = 16_384;
const atJwt = ['at+jwt', 'application/at+jwt'];

/** Access tokens that are JWTs (RFC 9068). */
export class BearerTokens {
  readonly #config: OpenIdConfig;
  readonly #provider: Provider;
  readonly #admission: Admission;
  readonly #refusals: Refusals;
  readonly #rules: TokenRules;
  readonly #failed: (error: unknown) => void;

  constructor(
    config: OpenIdConfig,
    provider: Provider,
    admission: Admission,
    refusals: Refusals,
    failed: (error: unknown) => void,
  ) {
    this.#config = config;
    this.#provider = provider;
    this.#admission = admission;
    this.#refusals = refusals;
    this.#failed = failed;
    this.#rules = {
      algorithms: config.algorithms,
      issuers: config.issuers_allowed,
      audience: null,
      leeway: config.leeway,
      types: config.at_jwt_required ? atJwt : [...atJwt, 'jwt', ''],
    };
  }

  /** `token`: the credentials of the scheme `Bearer`; '' if they are not a token. */
  attempt(context: AccessContext, token: string): Reply | undefined | Promise<Reply | undefined> {
    if (token === '' || token.length > maxTokenLength) return this.#refusals.invalid;
    const key = hash('sha256', token, 'base64url');
    const state = this.#provider.state();
    if (!(state instanceof Promise)) {
      const known = cachedToken(state, key);
      if (known !== null)
        return this.#admission.admit(context, known.identity, { accessToken: token, sentByClient: true });
    }
    return this.#verify(context, token, key, state);
  }

  async #verify(
    context: AccessContext,
    token: string,
    key: string,
    providerState: ProviderState | Promise<ProviderState>,
  ): Promise<Reply | undefined> {
    try {
      await providerState;
    } catch {
      return this.#refusals.unavailable;
    }
    const verified = await verifyToken(this.#provider, token, this.#rules).catch(this.#failed);
    if (verified === undefined) return this.#refusals.unavailable;
    if (verified === null || !this.#isAccessToken(verified.claims)) return this.#refusals.invalid;
    const { claims, expiresAt, state } = verified;
    const scopes = claimList(claimAt(claims, this.#config.scopes_claim));
    const identity = identityOf(this.#config, claims, scopes);
    state.keys.verified.set(key, { identity, expiresAt });
    return this.#admission.admit(context, identity, { accessToken: token, sentByClient: true });
  }

  /** The audience matches, and it is not an ID or logout token, which the same keys sign. */
  #isAccessToken(claims: Claims): boolean {
    if (['nonce', 'at_hash', 'c_hash', 'events'].some((name) => Object.hasOwn(claims, name))) return false;
    const { audience_required: required, audience_claim: path } = this.#config;
    if (required === null) return true;
    const value = claimAt(claims, path);
    const audiences = typeof value === 'string' ? [value] : claimList(value);
    return required.some((audience) => audiences.includes(audience));
  }
}

function cachedToken(state: ProviderState, key: string): AcceptedToken | null {
  const found = state.keys.verified.get(key);
  if (found === undefined) return null;
  if (found.expiresAt > Date.now() / 1000) return found;
  state.keys.verified.delete(key);
  return null;
}
