import {
  type AccessContext,
  type ConsumerView,
  type CredentialSource,
  type CredentialView,
  contextKey,
  credentialVersion,
  type EntityRow,
  type HeaderFilterContext,
  type PluginNeeds,
  type PluginPhases,
  type PluginTools,
  type Reply,
  type RequestView,
  reply,
  SessionRevocations,
  sessionKey,
  type ZoneRequest,
} from '../../plugin-sdk/index.ts';
import { dueWork } from './lifetimes.ts';
import { asksForLogout, maxLogoutBody } from './logout.ts';
import type { SessionConfig } from './schema.ts';
import { isOf, newSession, renewed, type Session } from './session.ts';
import { sessionHeaders } from './session-headers.ts';
import type { SessionStore } from './session-store.ts';
import { openStores } from './stores.ts';

type Outcome = Reply | undefined;
type Later<T> = T | Promise<T>;

/** What `access` found, for `headerFilter`. */
interface Held {
  readonly session: Session;
  readonly store: SessionStore;
}

const held = contextKey<Held>('session');
const loggedOut = contextKey<true>('session-logged-out');

export function needsOf(config: SessionConfig): PluginNeeds {
  const secrets = { headers: ['cookie', 'set-cookie'] };
  return config.read_body_for_logout ? { secrets, requestBody: { maxBytes: maxLogoutBody } } : { secrets };
}

/** For a secret that the workers agree upon where none is configured. */
export function zonesOf(config: SessionConfig): readonly ZoneRequest[] {
  return config.secret === null ? [{ name: 'secret', bytes: 4096, kind: 'raw' }] : [];
}

/** Remembers in a cookie who has authenticated, so that the authentication plugins after it need not ask again. */
export function keepSessions(config: SessionConfig, tools: PluginTools): PluginPhases {
  const keeper = new SessionKeeper(config, tools);
  return {
    access: (context) => keeper.access(context),
    headerFilter: (context) => keeper.headerFilter(context),
  };
}

class SessionKeeper {
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

  access(context: AccessContext): Later<Outcome> {
    this.#tell(context, null);
    if (context.request.header('cookie') === null) return undefined;
    context.upstream.removeCookies(this.#cookieNames);
    return after(this.#find(context.request), (present) =>
      present === null ? undefined : this.#enter(context, present),
    );
  }

  headerFilter(context: HeaderFilterContext): void {
    if (context.get(loggedOut) === true) {
      this.#send(context, this.#session.clear(context.request));
      if (this.#remember !== null) this.#send(context, this.#remember.clear(context.request));
      return;
    }
    // The anonymous consumer has no credential.
    if (context.client.credential === null) return;
    const present = context.get(held);
    if (present === undefined || !isOf(present.session, context.client)) this.#begin(context, null);
    else if (present.store === this.#remember) this.#begin(context, present.session);
    else this.#goOn(context, present.session);
  }

  #find(request: RequestView): Later<Held | null> {
    return after(this.#valid(this.#session, request), (present) =>
      present === null && this.#remember !== null ? this.#valid(this.#remember, request) : present,
    );
  }

  #valid(store: SessionStore, request: RequestView): Later<Held | null> {
    return after(store.read(request), (session) =>
      session === null
        ? null
        : after(this.#revocations.has(sessionKey(session.login)), (isRevoked) =>
            isRevoked ? null : { session, store },
          ),
    );
  }

  #enter(context: AccessContext, present: Held): Later<Outcome> {
    return after(asksForLogout(context, this.#config), (wanted) =>
      wanted ? this.#logOut(context, present) : this.#identify(context, present),
    );
  }

  async #logOut(context: AccessContext, { session, store }: Held): Promise<Outcome> {
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

  /** A session ends with its consumer, and with the credential that began it. */
  #identify(context: AccessContext, present: Held): Later<Outcome> {
    const { consumerId, credentialId, source } = present.session;
    if (source === null || credentialId === null) return this.#admit(context, present, consumerId);
    return after(this.#tools.entities.find(source.entity, 'id', credentialId), (row) =>
      isCurrent(row, source) ? this.#admit(context, present, consumerId) : undefined,
    );
  }

  #admit(context: AccessContext, present: Held, consumerId: string | null): Later<Outcome> {
    if (consumerId === null) return this.#pass(context, present, null);
    return after(this.#tools.entities.consumer(consumerId), (consumer) =>
      consumer === null ? undefined : this.#pass(context, present, consumer),
    );
  }

  #pass(context: AccessContext, present: Held, consumer: ConsumerView | null): undefined {
    const { credentialId, identifier, source, groups, scopes } = present.session;
    const shown = { id: credentialId, identifier: credentialId ?? identifier };
    const credential: CredentialView = source === null ? shown : { ...shown, source };
    context.authenticate(consumer, credential, { groups, scopes });
    present.store.admitted(present.session);
    context.set(held, present);
    this.#tell(context, present);
  }

  #tell({ upstream }: AccessContext, present: Held | null): void {
    const { request_headers: shown, audience } = this.#config;
    if (shown === null || shown.length === 0) return;
    const { session, store } = present ?? { session: null, store: this.#session };
    for (const [name, value] of sessionHeaders(shown, audience ?? '', session, store.lifetimes, now())) {
      if (value === null) upstream.removeHeader(name);
      else upstream.setHeader(name, value);
    }
  }

  /** A login: a new session, whatever the client had before. With `remembered`, of what the second cookie told. */
  #begin(context: HeaderFilterContext, remembered: Session | null): void {
    const { request } = context;
    const session = newSession(context.client, now(), remembered?.login);
    this.#send(context, this.#session.create(request, session));
    this.#show(context, session);
    if (this.#remember === null) return;
    if (remembered === null) this.#send(context, this.#remember.create(request, renewed(session, now())));
    else this.#send(context, this.#remember.replace(request, remembered, renewed(remembered, now())));
  }

  #goOn(context: HeaderFilterContext, session: Session): void {
    const { request } = context;
    const due = dueWork(session, this.#session.lifetimes, now());
    let current = session;
    if (due === 'renew') {
      current = renewed(session, now());
      this.#send(context, this.#session.replace(request, session, current));
    } else if (due === 'use') {
      current = { ...session, usedAt: now() };
      this.#send(context, this.#session.update(request, current));
    }
    this.#show(context, current);
  }

  #show({ response }: HeaderFilterContext, session: Session): void {
    const { response_headers: shown, audience } = this.#config;
    if (shown === null || shown.length === 0) return;
    for (const [name, value] of sessionHeaders(shown, audience ?? '', session, this.#session.lifetimes, now())) {
      if (value !== null) response.setHeader(name, value);
    }
  }

  #send({ response }: HeaderFilterContext, lines: readonly string[]): void {
    for (const line of lines) response.addHeader('Set-Cookie', line);
  }
}

function isCurrent(row: EntityRow | null, source: CredentialSource): boolean {
  return row !== null && credentialVersion(row) === source.version;
}

/** Synchronous if the value is. */
function after<T, U>(value: Later<T>, next: (value: T) => Later<U>): Later<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Whole seconds since the epoch. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}
