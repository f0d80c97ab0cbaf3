import {
  type AccessContext,
  type ConsumerView,
  type CredentialView,
  contextKey,
  type HeaderFilterContext,
  type PluginNeeds,
  type PluginPhases,
  type PluginTools,
  type Reply,
  reply,
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
  readonly #cookieNames: readonly string[];

  constructor(config: SessionConfig, tools: PluginTools) {
    const { session, remember } = openStores(config, tools);
    this.#config = config;
    this.#tools = tools;
    this.#session = session;
    this.#remember = remember;
    this.#cookieNames = [config.cookie_name ?? 'session', config.remember_cookie_name ?? 'remember'];
  }

  access(context: AccessContext): Later<Outcome> {
    this.#tell(context, null);
    if (context.request.header('cookie') === null) return undefined;
    context.upstream.removeCookies(this.#cookieNames);
    const found = this.#session.read(context.request);
    return found instanceof Promise
      ? found.then((session) => this.#withSession(context, session))
      : this.#withSession(context, found);
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

  #withSession(context: AccessContext, session: Session | null): Later<Outcome> {
    if (session !== null) return this.#enter(context, { session, store: this.#session });
    const store = this.#remember;
    if (store === null) return undefined;
    const found = store.read(context.request);
    if (found instanceof Promise)
      return found.then((late) => (late === null ? undefined : this.#enter(context, { session: late, store })));
    return found === null ? undefined : this.#enter(context, { session: found, store });
  }

  #enter(context: AccessContext, present: Held): Later<Outcome> {
    const wanted = asksForLogout(context, this.#config);
    if (wanted instanceof Promise)
      return wanted.then((yes) => (yes ? this.#logOut(context, present) : this.#identify(context, present)));
    return wanted ? this.#logOut(context, present) : this.#identify(context, present);
  }

  async #logOut(context: AccessContext, { session, store }: Held): Promise<Outcome> {
    await store.destroy(session);
    if (this.#remember !== null && store !== this.#remember) {
      const remembered = await this.#remember.read(context.request);
      if (remembered !== null) await this.#remember.destroy(remembered);
    }
    context.set(loggedOut, true);
    return reply({ status: 200 });
  }

  /** A consumer that was deleted meanwhile has no session. */
  #identify(context: AccessContext, present: Held): Later<Outcome> {
    const { consumerId } = present.session;
    if (consumerId === null) return this.#pass(context, present, null);
    const found = this.#tools.entities.consumer(consumerId);
    if (found instanceof Promise)
      return found.then((late) => (late === null ? undefined : this.#pass(context, present, late)));
    return found === null ? undefined : this.#pass(context, present, found);
  }

  #pass(context: AccessContext, present: Held, consumer: ConsumerView | null): undefined {
    const { credentialId, identifier, groups, scopes } = present.session;
    const credential: CredentialView = { id: credentialId, identifier: credentialId ?? identifier };
    context.authenticate(consumer, credential, { groups, scopes });
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
    const session = newSession(context.client, now());
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

/** Whole seconds since the epoch. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}
