import { hash } from 'node:crypto';
import { type AccessContext, type Claims, claimAt, claimList, type Reply } from '../../plugin-sdk/index.ts';
import { type Admission, type Identity, identityOf } from './identity.ts';
import type { Provider, ProviderState } from './provider.ts';
import type { Refusals } from './refusals.ts';
import type { OpenIdConfig } from './schema.ts';
import { type TokenRules, verifyToken } from './verify.ts';

export interface AcceptedToken {
  readonly identity: Identity;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

const maxToken = 16_384;
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

  /** `token`: what came after `Bearer`; empty when that was no token. */
  attempt(context: AccessContext, token: string): Reply | undefined | Promise<Reply | undefined> {
    if (token === '' || token.length > maxToken) return this.#refusals.invalid;
    const key = hash('sha256', token, 'base64url');
    const state = this.#provider.state();
    if (!(state instanceof Promise)) {
      const known = knownToken(state, key);
      if (known !== null) return this.#admission.admit(context, known.identity, { accessToken: token, isOwn: true });
    }
    return this.#verify(context, token, key, state);
  }

  async #verify(
    context: AccessContext,
    token: string,
    key: string,
    waiting: ProviderState | Promise<ProviderState>,
  ): Promise<Reply | undefined> {
    try {
      await waiting;
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
    return this.#admission.admit(context, identity, { accessToken: token, isOwn: true });
  }

  /** For this audience, and not an ID or logout token, which the same keys sign. */
  #isAccessToken(claims: Claims): boolean {
    if (['nonce', 'at_hash', 'c_hash', 'events'].some((name) => Object.hasOwn(claims, name))) return false;
    const { audience_required: wanted, audience_claim: path } = this.#config;
    if (wanted === null) return true;
    const value = claimAt(claims, path);
    const audiences = typeof value === 'string' ? [value] : claimList(value);
    return wanted.some((one) => audiences.includes(one));
  }
}

function knownToken(state: ProviderState, key: string): AcceptedToken | null {
  const found = state.keys.verified.get(key);
  if (found === undefined) return null;
  if (found.expiresAt > Date.now() / 1000) return found;
  state.keys.verified.delete(key);
  return null;
}
