import { credentialVersion, SessionRevocations, sessionKey } from '../../plugin-kit/auth/index.ts';
import {
  type AccessContext,
  type ConsumerView,
  type CredentialSource,
  type CredentialView,
  contextKey,
  type EntityRow,
  type HeaderFilterContext,
  type PluginNeeds,
  type PluginPhases,
  type PluginTools,
  type Reply,
  type RequestView,
  reply,
} from '../../plugin-sdk/index.ts';
import { dueWork } from './lifetimes.ts';
import { asksForLogout, maxLogoutBody } from './logout.ts';
import type { SessionConfig } from './schema.ts';
import { isOf, newSession, renewed, type Session } from './session.ts';
import { sessionHeaders } from './session-headers.ts';
import type { SessionStore } from './session-store.ts';
import { openStores } from './stores.ts';

type Outcome = Reply | undefined;
type MaybePromise<T> = T | Promise<T>;

/** The session that `access` found, for `headerFilter`. */
interface ActiveSession {
  readonly session: Session;
  readonly store: SessionStore;
}

const activeSession = contextKey<ActiveSession>('session');
const loggedOut = contextKey<true>('session-logged-out');

export function sessionNeeds(config: SessionConfig): PluginNeeds {
  const secrets = { headers: ['cookie', 'set-cookie'] };
  return config.read_body_for_logout ? { secrets, requestBody: { maxBytes: maxLogoutBody } } : { secrets };
}

/** Keeps the authenticated client in a cookie, so that later requests need no other credential. */
export function handleSessions(config: SessionConfig, tools: PluginTools): PluginPhases {
  const handler = new SessionHandler(config, tools);
  return {
    access: (context) => handler.access(context),
    headerFilter: (context) => handler.headerFilter(context),
  };
}

class SessionHandler {
  readonly #config: SessionConfig;
  readonly #tools: PluginTools;
  readonly #session: SessionStore;
  readonly #remember: SessionStore | null;
  readonly #lastExpiry: (session: Session) => number;
  readonly #revocations: SessionRevocations;
  readonly #cookieNames: readonly string[];

  constructor(config: SessionConfig, tools: PluginTools) {
    const { session, remember, lastExpiry } = openStores(config, tools);
    this.#config = config;
    this.#tools = tools;
    this.#session = session;
    this.#remember = remember;
    this.#lastExpiry = lastExpiry;
    this.#revocations = new SessionRevocations(tools.entities);
    this.#revocations.preload();
    this.#cookieNames = [config.cookie_name ?? 'session', config.remember_cookie_name ?? 'remember'];
  }

  access(context: AccessContext): MaybePromise<Outcome> {
    this.#setRequestHeaders(context, null);
    if (context.request.header('cookie') === null) return undefined;
    context.upstream.removeCookies(this.#cookieNames);
    return chain(this.#find(context.request), (active) =>
      active === null ? undefined : this.#handleRequest(context, active),
    );
  }

  headerFilter(context: HeaderFilterContext): void {
    if (context.get(loggedOut) === true) {
      this.#addCookies(context, this.#session.clear(context.request));
      if (this.#remember !== null) this.#addCookies(context, this.#remember.clear(context.request));
      return;
    }
    // The anonymous consumer has no credential.
    if (context.client.credential === null) return;
    const active = context.get(activeSession);
    if (active === undefined || !isOf(active.session, context.client)) this.#start(context, null);
    else if (active.store === this.#remember) this.#start(context, active.session);
    else this.#continue(context, active.session);
  }

  #find(request: RequestView): MaybePromise<ActiveSession | null> {
    return chain(this.#valid(this.#session, request), (active) =>
      active === null && this.#remember !== null ? this.#valid(this.#remember, request) : active,
    );
  }

  #valid(store: SessionStore, request: RequestView): MaybePromise<ActiveSession | null> {
    return chain(store.read(request), (session) =>
      session === null
        ? null
        : chain(this.#revocations.has(sessionKey(session.login)), (isRevoked) =>
            isRevoked ? null : { session, store },
          ),
    );
  }

  #handleRequest(context: AccessContext, active: ActiveSession): MaybePromise<Outcome> {
    return chain(asksForLogout(context, this.#config), (wanted) =>
      wanted ? this.#logOut(context, active) : this.#checkCredential(context, active),
    );
  }

  async #logOut(context: AccessContext, { session, store }: ActiveSession): Promise<Outcome> {
    // The browser loses its cookies even if the revocation cannot be stored, which is answered with 503.
    context.set(loggedOut, true);
    await this.#revoke(session);
    await store.destroy(session);
    if (this.#remember !== null && store !== this.#remember) {
      const remembered = await this.#remember.read(context.request);
      if (remembered !== null && remembered.login !== session.login) await this.#revoke(remembered);
    }
    return reply({ status: 200 });
  }

  #revoke(session: Session): Promise<void> {
    return this.#revocations.revoke(sessionKey(session.login), this.#lastExpiry(session));
  }

  /** A session ends with its consumer, and with the credential that started it. */
  #checkCredential(context: AccessContext, active: ActiveSession): MaybePromise<Outcome> {
    const { consumerId, credentialId, source } = active.session;
    if (source === null || credentialId === null) return this.#findConsumer(context, active, consumerId);
    return chain(this.#tools.entities.find(source.entity, 'id', credentialId), (row) =>
      isCurrent(row, source) ? this.#findConsumer(context, active, consumerId) : undefined,
    );
  }

  #findConsumer(context: AccessContext, active: ActiveSession, consumerId: string | null): MaybePromise<Outcome> {
    if (consumerId === null) return this.#authenticate(context, active, null);
    return chain(this.#tools.entities.consumer(consumerId), (consumer) =>
      consumer === null ? undefined : this.#authenticate(context, active, consumer),
    );
  }

  #authenticate(context: AccessContext, active: ActiveSession, consumer: ConsumerView | null): undefined {
    const { credentialId, identifier, source, groups, scopes } = active.session;
    const shown = { id: credentialId, identifier: credentialId ?? identifier };
    const credential: CredentialView = source === null ? shown : { ...shown, source };
    context.authenticate(consumer, credential, { groups, scopes });
    active.store.admitted(active.session);
    context.set(activeSession, active);
    this.#setRequestHeaders(context, active);
  }

  #setRequestHeaders({ upstream }: AccessContext, active: ActiveSession | null): void {
    const { request_headers: shown, audience } = this.#config;
    if (shown === null || shown.length === 0) return;
    const { session, store } = active ?? { session: null, store: this.#session };
    for (const [name, value] of sessionHeaders(shown, audience ?? '', session, store.lifetimes, now())) {
      if (value === null) upstream.removeHeader(name);
      else upstream.setHeader(name, value);
    }
  }

  /** A login starts a new session, even if the client has one. `remembered`: the session of the second cookie, if it is the login. */
  #start(context: HeaderFilterContext, remembered: Session | null): void {
    const { request } = context;
    const session = newSession(context.client, now(), remembered?.login);
    this.#addCookies(context, this.#session.create(request, session));
    this.#setResponseHeaders(context, session);
    if (this.#remember === null) return;
    if (remembered === null) this.#addCookies(context, this.#remember.create(request, renewed(session, now())));
    else this.#addCookies(context, this.#remember.replace(request, remembered, renewed(remembered, now())));
  }

  #continue(context: HeaderFilterContext, session: Session): void {
    const { request } = context;
    const due = dueWork(session, this.#session.lifetimes, now());
    let current = session;
    if (due === 'renew') {
      current = renewed(session, now());
      this.#addCookies(context, this.#session.replace(request, session, current));
    } else if (due === 'use') {
      current = { ...session, usedAt: now() };
      this.#addCookies(context, this.#session.update(request, current));
    }
    this.#setResponseHeaders(context, current);
  }

  #setResponseHeaders({ response }: HeaderFilterContext, session: Session): void {
    const { response_headers: shown, audience } = this.#config;
    if (shown === null || shown.length === 0) return;
    for (const [name, value] of sessionHeaders(shown, audience ?? '', session, this.#session.lifetimes, now())) {
      if (value !== null) response.setHeader(name, value);
    }
  }

  #addCookies({ response }: HeaderFilterContext, lines: readonly string[]): void {
    for (const line of lines) response.addHeader('Set-Cookie', line);
  }
}

function isCurrent(row: EntityRow | null, source: CredentialSource): boolean {
  return row !== null && credentialVersion(row) === source.version;
}

/** Synchronous if the value is. */
function chain<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Whole seconds since the epoch. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}
