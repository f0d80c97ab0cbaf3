import { randomBytes } from 'node:crypto';
import { type SealedCookie, SessionRevocations, sessionKey } from '../../plugin-kit/auth/index.ts';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import type { AccessContext, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { sendCookies } from './cookies.ts';
import { type Admission, type Identity, identityOf } from './identity.ts';
import type { Refusals } from './refusals.ts';
import type { OpenIdConfig } from './schema.ts';
import { decodeSession, payloadOf, type Session } from './session.ts';
import { SharedResults } from './shared-results.ts';
import type { TokenEndpoint, TokenResponse } from './token-endpoint.ts';
import { refreshesZone } from './zones.ts';

/** Seconds: maximum duration of a request that was accepted before the revocation and renews its cookie afterwards. */
const maxRequestDuration = 3600;

export class Sessions {
  readonly #config: OpenIdConfig;
  readonly #tools: PluginTools;
  readonly #cookie: SealedCookie;
  readonly #endpoint: TokenEndpoint;
  readonly #admission: Admission;
  readonly #refusals: Refusals;
  readonly #failed: (error: unknown) => void;
  readonly #read = new BoundedCache<string, Session>(1000);
  readonly #identities = new WeakMap<Session, Identity>();
  readonly #refreshing = new Map<string, Promise<Session | null>>();
  readonly #shared: SharedResults;
  readonly #revocations: SessionRevocations;

  constructor(
    config: OpenIdConfig,
    tools: PluginTools,
    cookie: SealedCookie,
    endpoint: TokenEndpoint,
    admission: Admission,
    refusals: Refusals,
    failed: (error: unknown) => void,
  ) {
    this.#config = config;
    this.#tools = tools;
    this.#cookie = cookie;
    this.#endpoint = endpoint;
    this.#admission = admission;
    this.#refusals = refusals;
    this.#failed = failed;
    this.#shared = new SharedResults(tools.zone(refreshesZone));
    this.#revocations = new SessionRevocations(tools.entities);
    this.#revocations.preload();
  }

  /** The session of the request, unless it was revoked; its access token may have expired. */
  find({ request }: AccessContext): Session | null | Promise<Session | null> {
    if (request.header('cookie') === null) return null;
    const content = this.#cookie.read(request);
    if (content === null) return null;
    const session = this.#read.get(content) ?? decodeSession(content);
    if (session === null) return null;
    this.#read.set(content, session);
    const revoked = this.#revocations.has(sessionKey(session.login));
    if (revoked instanceof Promise) return revoked.then((isRevoked) => (isRevoked ? null : session));
    return revoked ? null : session;
  }

  /** False: the session does not fit into cookies. */
  start(context: AccessContext, response: TokenResponse): boolean {
    const { accessToken, expiresAt, refreshToken, idToken } = response;
    const scopes = response.scopes ?? this.#config.scopes;
    const at = seconds();
    const login = randomBytes(32).toString('base64url');
    const tokens = { accessToken, expiresAt, refreshToken, idToken: idToken ?? '', scopes };
    return this.#write(context, { login, ...tokens, begunAt: at, usedAt: at });
  }

  /** Revokes every copy of the cookie; the cookie of the browser is removed even if the store is unavailable. */
  async end(context: AccessContext, session: Session): Promise<void> {
    sendCookies(context, this.#cookie.clear(context.request));
    const used = { ...session, usedAt: seconds() };
    await this.#revocations.revoke(sessionKey(session.login), this.#expiryOf(used) + maxRequestDuration);
  }

  /** Null: the session has ended; a new login is needed. */
  accept(context: AccessContext, session: Session): Reply | undefined | null | Promise<Reply | undefined | null> {
    if (session.expiresAt !== null && session.expiresAt <= seconds()) return this.#renew(context, session);
    const idle = this.#config.session_idling_timeout;
    if (idle > 0 && seconds() - session.usedAt > Math.min(60, idle / 4)) {
      this.#write(context, { ...session, usedAt: seconds() });
    }
    return this.#admit(context, session);
  }

  async #renew(context: AccessContext, session: Session): Promise<Reply | undefined | null> {
    if (session.refreshToken === null) return null;
    let renewed: Session | null;
    try {
      renewed = await this.#refresh(context.client.ip, session, session.refreshToken);
    } catch (error) {
      this.#failed(error);
      return this.#refusals.unavailable;
    }
    // Keep the cookie: another worker may have sent a new one to the browser at the same time. A login replaces it.
    if (renewed === null || !this.#write(context, renewed)) return null;
    return this.#admit(context, renewed);
  }

  /** One refresh for all concurrent requests of the session, on all workers: with many providers a refresh token can be used once. */
  #refresh(client: string, session: Session, token: string): Promise<Session | null> {
    let pending = this.#refreshing.get(token);
    if (pending === undefined) {
      pending = this.#shared
        .run(token, this.#config.timeout, async () => {
          const renewed = await this.#requestTokens(client, session, token);
          return renewed === null ? null : JSON.stringify(renewed);
        })
        .then((text) => (text === null ? null : (JSON.parse(text) as Session)))
        .finally(() => this.#refreshing.delete(token));
      this.#refreshing.set(token, pending);
    }
    return pending;
  }

  async #requestTokens(client: string, session: Session, token: string): Promise<Session | null> {
    const response = await this.#endpoint.request(client, { grant_type: 'refresh_token', refresh_token: token });
    if (response === null) return null;
    // OpenID Connect Core 1.0, 12.2: the same user.
    if (response.claims !== null && response.claims['sub'] !== payloadOf(session.idToken)['sub']) return null;
    return {
      login: session.login,
      accessToken: response.accessToken,
      expiresAt: response.expiresAt,
      refreshToken: response.refreshToken ?? token,
      idToken: response.idToken ?? session.idToken,
      scopes: response.scopes ?? session.scopes,
      begunAt: session.begunAt,
      usedAt: seconds(),
    };
  }

  #admit(context: AccessContext, session: Session): Reply | undefined | Promise<Reply | undefined> {
    let identity = this.#identities.get(session);
    if (identity === undefined) {
      identity = identityOf(this.#config, payloadOf(session.idToken), session.scopes);
      this.#identities.set(session, identity);
    }
    return this.#admission.admit(context, identity, { accessToken: session.accessToken, sentByClient: false });
  }

  #write(context: AccessContext, session: Session): boolean {
    const lines = this.#cookie.write(context.request, JSON.stringify(session), this.#expiryOf(session));
    if (lines === null) this.#tools.log.error('the tokens of a session are too large for cookies');
    else sendCookies(context, lines);
    return lines !== null;
  }

  #expiryOf({ begunAt, usedAt }: Session): number {
    const { session_absolute_timeout: max, session_idling_timeout: idle } = this.#config;
    const end = begunAt + max;
    return idle > 0 ? Math.min(end, usedAt + idle) : end;
  }
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
