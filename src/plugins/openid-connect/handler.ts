import { authAccess, bearerToken, sharedSecret } from '../../plugin-kit/auth/index.ts';
import { outageReporter } from '../../plugin-kit/logging/index.ts';
import { shownUrl } from '../../plugin-kit/net/index.ts';
import type { AccessContext, PluginNeeds, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { reply } from '../../plugin-sdk/index.ts';
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
import { TokenEndpoint } from './token-endpoint.ts';
import { hasSessions, secretZone } from './zones.ts';

type Outcome = Reply | undefined;

const noNeeds: PluginNeeds = {};
const secrets = { headers: ['cookie', 'set-cookie'], queryArguments: ['code', 'state', 'id_token_hint'] };

/** Logs never contain bearer tokens. */
export function openIdConnectNeeds(config: OpenIdConfig): PluginNeeds {
  return hasSessions(config) ? { secrets } : noNeeds;
}

/** Authenticates clients of an OpenID provider: with bearer tokens, and by logins of browsers. */
export function openIdConnectPhases(config: OpenIdConfig, tools: PluginTools): PluginPhases {
  const openId = new OpenIdConnect(config, tools);
  const authenticate = authAccess(tools, {
    anonymous: config.anonymous,
    runOnPreflight: config.run_on_preflight,
    attempt: (context) => openId.attempt(context),
  });
  return {
    access: (context) => openId.prepare(context) ?? authenticate(context),
    accessSkipped: (context) => openId.hide(context),
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
    const failed = outageReporter(
      tools,
      'provider_failures',
      'clients cannot be authenticated: the OpenID provider is unavailable',
      issuer,
    );
    const documentsFailed = outageReporter(
      tools,
      'provider_failures',
      'the configuration of the OpenID provider cannot be loaded',
      {
        untilSuccess: true,
        ...issuer,
      },
    );
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
      const cookies = cookiesOf(config, config.session_secret ?? sharedSecret(tools.zone(secretZone)));
      const endpoint = new TokenEndpoint(config, provider);
      const sessions = new Sessions(config, tools, cookies.session, endpoint, admission, refusals, failed);
      this.#sessions = sessions;
      if (methods.includes('authorization_code')) {
        this.#logins = new Logins(config, provider, cookies.login, endpoint, sessions, refusals, failed);
      }
    }
    // Preloads the configuration for the first request. A failure is reported; the first request tries again.
    Promise.resolve(provider.state()).catch(() => {});
  }

  /** Removes what the backend must not receive, whether or not the client is authenticated. */
  hide(context: AccessContext): void {
    this.#admission.strip(context);
    if (this.#sessions !== null) context.upstream.removeCookies(this.#cookieNames);
    if (this.#config.hide_credentials && bearerToken(context.request) !== null) {
      context.upstream.removeHeader('authorization');
    }
  }

  /** Removes headers and cookies; handles callbacks and logouts, which need no authentication. */
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
    const result = this.#sessions.accept(context, session);
    if (result instanceof Promise) return result.then((settled) => (settled === null ? this.#logIn(context) : settled));
    return result === null ? this.#logIn(context) : result;
  }

  #logIn(context: AccessContext): Outcome | Promise<Outcome> {
    const logins = this.#logins;
    const wanted = this.#config.login_for_browsers_only ? isNavigation(context) : context.request.method === 'GET';
    return logins === null || !wanted ? this.#refusals.missing : logins.orUnavailable(logins.begin(context));
  }

  /** Ends the session, and the one at the provider if supported (OpenID Connect RP-Initiated Logout 1.0, 2). */
  async #logOut(context: AccessContext, sessions: Sessions): Promise<Outcome> {
    const session = await sessions.find(context);
    // A form on another site sends no cookie, and must not remove it.
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

/** True for a request of a browser for a page (Fetch Metadata; older browsers only accept HTML). */
function isNavigation({ request }: AccessContext): boolean {
  if (request.method !== 'GET') return false;
  if (request.header('x-requested-with') !== null) return false;
  const mode = request.header('sec-fetch-mode');
  return mode === null ? (request.header('accept') ?? '').includes('text/html') : mode === 'navigate';
}
