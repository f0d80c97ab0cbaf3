import {
  type AccessContext,
  BoundedCache,
  type Claims,
  type PluginTools,
  type Reply,
  type SealedCookie,
} from '../../plugin-sdk/index.ts';
import { sendCookies } from './cookies.ts';
import { type Admission, type Identity, identityOf } from './identity.ts';
import type { Refusals } from './refusals.ts';
import type { OpenIdConfig } from './schema.ts';
import { SharedAnswers } from './shared-answers.ts';
import type { TokenAnswer, TokenEndpoint } from './token-endpoint.ts';

/** What the cookie holds. Times are seconds since the epoch. */
export interface Session {
  readonly accessToken: string;
  readonly expiresAt: number | null;
  readonly refreshToken: string | null;
  readonly idToken: string;
  readonly scopes: readonly string[];
  readonly begunAt: number;
  readonly usedAt: number;
}

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
  readonly #shared: SharedAnswers;

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
    this.#shared = new SharedAnswers(tools.zone('refreshes'));
  }

  /** The session of the request; its access token may be over. */
  find({ request }: AccessContext): Session | null {
    if (request.header('cookie') === null) return null;
    const content = this.#cookie.read(request);
    if (content === null) return null;
    let session = this.#read.get(content);
    if (session === undefined) {
      session = JSON.parse(content) as Session;
      this.#read.set(content, session);
    }
    return session;
  }

  /** False: it does not fit into cookies. */
  begin(context: AccessContext, answer: TokenAnswer): boolean {
    const { accessToken, expiresAt, refreshToken, idToken } = answer;
    const scopes = answer.scopes ?? this.#config.scopes;
    const at = seconds();
    const session = { accessToken, expiresAt, refreshToken, idToken: idToken ?? '', scopes, begunAt: at, usedAt: at };
    return this.#write(context, session);
  }

  end(context: AccessContext): void {
    sendCookies(context, this.#cookie.clear(context.request));
  }

  /** Null: the session is over; log in again. */
  enter(context: AccessContext, session: Session): Reply | undefined | null | Promise<Reply | undefined | null> {
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
      renewed = await this.#refresh(session, session.refreshToken);
    } catch (error) {
      this.#failed(error);
      return this.#refusals.unavailable;
    }
    // The cookie is not removed: another worker may have sent the browser a new one in this moment. A login replaces it.
    if (renewed === null || !this.#write(context, renewed)) return null;
    return this.#admit(context, renewed);
  }

  /** One question for all requests of the session that come meanwhile, on all workers: many providers take a refresh token once only. */
  #refresh(session: Session, token: string): Promise<Session | null> {
    let pending = this.#refreshing.get(token);
    if (pending === undefined) {
      pending = this.#shared
        .find(token, this.#config.timeout, async () => {
          const renewed = await this.#ask(session, token);
          return renewed === null ? null : JSON.stringify(renewed);
        })
        .then((text) => (text === null ? null : (JSON.parse(text) as Session)))
        .finally(() => this.#refreshing.delete(token));
      this.#refreshing.set(token, pending);
    }
    return pending;
  }

  async #ask(session: Session, token: string): Promise<Session | null> {
    const answer = await this.#endpoint.ask({ grant_type: 'refresh_token', refresh_token: token });
    if (answer === null) return null;
    // OpenID Connect Core 1.0, 12.2: the same user.
    if (answer.claims !== null && answer.claims['sub'] !== payloadOf(session.idToken)['sub']) return null;
    return {
      accessToken: answer.accessToken,
      expiresAt: answer.expiresAt,
      refreshToken: answer.refreshToken ?? token,
      idToken: answer.idToken ?? session.idToken,
      scopes: answer.scopes ?? session.scopes,
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
    return this.#admission.admit(context, identity, { accessToken: session.accessToken, isOwn: false });
  }

  #write(context: AccessContext, session: Session): boolean {
    const { session_absolute_timeout: longest, session_idling_timeout: idle } = this.#config;
    const end = session.begunAt + longest;
    const until = idle > 0 ? Math.min(end, session.usedAt + idle) : end;
    const lines = this.#cookie.write(context.request, JSON.stringify(session), until);
    if (lines === null) this.#tools.log.error('the tokens of a session are too large for cookies');
    else sendCookies(context, lines);
    return lines !== null;
  }
}

/** Claims of an ID token that was verified when it came; nobody else can write into the cookie. */
function payloadOf(idToken: string): Claims {
  return JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString('utf8')) as Claims;
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
