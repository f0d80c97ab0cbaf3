import {
  type AccessContext,
  authAccess,
  bearerToken,
  outageReporter,
  type PluginNeeds,
  type PluginPhases,
  type PluginTools,
  type Reply,
  reply,
  sharedSecret,
  shownUrl,
  type ZoneRequest,
} from '../../plugin-sdk/index.ts';
import { BearerTokens } from './bearer-tokens.ts';
import { addCookies, cookiesOf } from './cookies.ts';
import { Admission } from './identity.ts';
import { Logins, redirect } from './logins.ts';
import { Provider } from './provider.ts';
import { ProviderDocuments } from './provider-documents.ts';
import { type Refusals, refusalsOf } from './refusals.ts';
import type { OpenIdConfig } from './schema.ts';
import type { Session } from './session.ts';
import { Sessions } from './sessions.ts';
import { sharedAnswersSize } from './shared-answers.ts';
import { TokenEndpoint } from './token-endpoint.ts';

type Outcome = Reply | undefined;

const noNeeds: PluginNeeds = {};
const secrets = { headers: ['cookie', 'set-cookie'], queryArguments: ['code', 'state', 'id_token_hint'] };

/** Bearer tokens are in no log anyway. */
export function needsOf(config: OpenIdConfig): PluginNeeds {
  return hasSessions(config) ? { secrets } : noNeeds;
}

/** For refreshed tokens, and for a secret that the workers agree upon where none is configured. */
export function zonesOf(config: OpenIdConfig): readonly ZoneRequest[] {
  if (!hasSessions(config)) return [];
  const refreshes: ZoneRequest = { name: 'refreshes', bytes: sharedAnswersSize, kind: 'raw' };
  return config.session_secret === null ? [refreshes, { name: 'secret', bytes: 4096, kind: 'raw' }] : [refreshes];
}

/** Clients of an OpenID provider: by bearer tokens, and by logins of browsers. */
export function authenticateByOpenId(config: OpenIdConfig, tools: PluginTools): PluginPhases {
  const openId = new OpenIdConnect(config, tools);
  const authenticate = authAccess(tools, {
    anonymous: config.anonymous,
    runOnPreflight: config.run_on_preflight,
    attempt: (context) => openId.attempt(context),
  });
  return {
    access: (context) => openId.prepare(context) ?? authenticate(context),
    skipped: (context) => openId.hide(context),
    ...(openId.hasSessions ? { headerFilter: addCookies } : {}),
  };
}

class OpenIdConnect {
  readonly hasSessions: boolean;
  readonly #config: OpenIdConfig;
  readonly #refusals: Refusals;
  readonly #provider: Provider;
  readonly #admission: Admission;
  readonly #bearer: BearerTokens | null;
  readonly #sessions: Sessions | null;
  readonly #logins: Logins | null;
  readonly #cookieNames: readonly string[];

  constructor(config: OpenIdConfig, tools: PluginTools) {
    const issuer = { fields: { issuer: shownUrl(config.issuer) } };
    const failed = outageReporter(tools, 'provider_failures', 'requests fail without the OpenID provider', issuer);
    const documentsFailed = outageReporter(tools, 'provider_failures', 'the OpenID provider could not be asked', {
      untilSuccess: true,
      ...issuer,
    });
    const refusals = refusalsOf(config);
    const admission = new Admission(config, tools, refusals);
    const provider = new Provider(config, new ProviderDocuments(config, tools), documentsFailed);
    const methods = config.auth_methods;
    this.#config = config;
    this.#refusals = refusals;
    this.#provider = provider;
    this.#admission = admission;
    this.hasSessions = hasSessions(config);
    this.#bearer = methods.includes('bearer') ? new BearerTokens(config, provider, admission, refusals, failed) : null;
    this.#cookieNames = [config.session_cookie_name, config.authorization_cookie_name];
    this.#sessions = null;
    this.#logins = null;
    if (this.hasSessions) {
      const cookies = cookiesOf(config, config.session_secret ?? sharedSecret(tools.zone('secret')));
      const endpoint = new TokenEndpoint(config, provider);
      const sessions = new Sessions(config, tools, cookies.session, endpoint, admission, refusals, failed);
      this.#sessions = sessions;
      if (methods.includes('authorization_code')) {
        this.#logins = new Logins(config, provider, cookies.login, endpoint, sessions, refusals, failed);
      }
    }
    // So that the first request need not wait. A failure is reported; the first request asks again.
    Promise.resolve(provider.state()).catch(() => {});
  }

  /** What the backend must not get, whoever the client is. */
  hide(context: AccessContext): void {
    this.#admission.strip(context);
    if (this.#sessions !== null) context.upstream.removeCookies(this.#cookieNames);
    if (this.#config.hide_credentials && bearerToken(context.request) !== null) {
      context.upstream.removeHeader('authorization');
    }
  }

  /** What is done whoever the client is. */
  prepare(context: AccessContext): Promise<Outcome> | undefined {
    this.hide(context);
    if (this.#sessions === null) return undefined;
    const { request } = context;
    if (this.#logins?.isCallback(context) === true) return this.#logins.orUnavailable(this.#logins.finish(context));
    const { logout_path: path, logout_methods: methods } = this.#config;
    if (request.path !== path || !methods.some((method) => method === request.method)) return undefined;
    return this.#logOut(context, this.#sessions);
  }

  attempt(context: AccessContext): Outcome | Promise<Outcome> {
    const token = this.#bearer === null ? null : bearerToken(context.request);
    if (token !== null && this.#bearer !== null) return this.#bearer.attempt(context, token);
    const found = this.#sessions?.find(context) ?? null;
    return found instanceof Promise
      ? found.then((session) => this.#withSession(context, session))
      : this.#withSession(context, found);
  }

  #withSession(context: AccessContext, session: Session | null): Outcome | Promise<Outcome> {
    if (session === null || this.#sessions === null) return this.#logIn(context);
    const entered = this.#sessions.enter(context, session);
    if (entered instanceof Promise) return entered.then((late) => (late === null ? this.#logIn(context) : late));
    return entered === null ? this.#logIn(context) : entered;
  }

  #logIn(context: AccessContext): Outcome | Promise<Outcome> {
    const logins = this.#logins;
    const wanted = this.#config.login_for_browsers_only ? isNavigation(context) : context.request.method === 'GET';
    return logins === null || !wanted ? this.#refusals.missing : logins.orUnavailable(logins.begin(context));
  }

  /** Here, and at the provider when it offers that (OpenID Connect RP-Initiated Logout 1.0, 2). */
  async #logOut(context: AccessContext, sessions: Sessions): Promise<Outcome> {
    const session = await sessions.find(context);
    // A form on another site comes without the cookie, and must not remove it.
    if (session !== null) await sessions.end(context, session);
    const after = this.#config.logout_redirect_uri?.[0] ?? null;
    const end = await Promise.resolve(this.#provider.state()).then(
      ({ metadata }) => metadata.endSessionEndpoint,
      () => null,
    );
    if (session !== null && end !== null) {
      const url = new URL(end);
      url.searchParams.set('id_token_hint', session.idToken);
      url.searchParams.set('client_id', this.#config.client_id?.[0] ?? '');
      if (after !== null) url.searchParams.set('post_logout_redirect_uri', after);
      return redirect(url.href, 303);
    }
    return after === null ? reply({ status: 200, headers: { 'Cache-Control': 'no-store' } }) : redirect(after, 303);
  }
}

function hasSessions({ auth_methods: methods }: OpenIdConfig): boolean {
  return methods.includes('session') || methods.includes('authorization_code');
}

/** True for what a browser shows as a page (Fetch Metadata; older browsers say only that they like HTML). */
function isNavigation({ request }: AccessContext): boolean {
  if (request.method !== 'GET') return false;
  if (request.header('x-requested-with') !== null) return false;
  const mode = request.header('sec-fetch-mode');
  return mode === null ? (request.header('accept') ?? '').includes('text/html') : mode === 'navigate';
}
