import { hash, randomBytes } from 'node:crypto';
import { equalSecrets, type SealedCookie } from '../../plugin-kit/auth/index.ts';
import { type AccessContext, type Reply, reply } from '../../plugin-sdk/index.ts';
import { sendCookies } from './cookies.ts';
import type { Provider } from './provider.ts';
import type { Refusals } from './refusals.ts';
import type { OpenIdConfig } from './schema.ts';
import type { Sessions } from './sessions.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

/** A login that waits for the provider. Stored in an encrypted cookie. */
interface Login {
  readonly state: string;
  readonly nonce: string;
  /** PKCE verifier (RFC 7636). */
  readonly verifier: string;
  /** Path and query that the browser requested. */
  readonly target: string;
}

/** Concurrent logins of one browser, in several tabs. */
const maxLogins = 4;
const maxTargetLength = 2000;

/** The authorization code flow (OpenID Connect Core 1.0, 3.1), with PKCE, state and nonce. */
export class Logins {
  readonly #config: OpenIdConfig;
  readonly #provider: Provider;
  readonly #cookie: SealedCookie;
  readonly #endpoint: TokenEndpoint;
  readonly #sessions: Sessions;
  readonly #refusals: Refusals;
  readonly #failed: (error: unknown) => void;
  readonly #redirectUri: string;
  readonly #callback: URL;

  constructor(
    config: OpenIdConfig,
    provider: Provider,
    cookie: SealedCookie,
    endpoint: TokenEndpoint,
    sessions: Sessions,
    refusals: Refusals,
    failed: (error: unknown) => void,
  ) {
    this.#config = config;
    this.#provider = provider;
    this.#cookie = cookie;
    this.#endpoint = endpoint;
    this.#sessions = sessions;
    this.#refusals = refusals;
    this.#failed = failed;
    this.#redirectUri = config.redirect_uri?.[0] ?? '';
    this.#callback = new URL(this.#redirectUri);
  }

  isCallback({ request }: AccessContext): boolean {
    if (request.method !== 'GET' || request.path !== this.#callback.pathname) return false;
    return request.query.includes('code=') || request.query.includes('error=');
  }

  /** Redirects the browser to the provider. */
  async begin(context: AccessContext): Promise<Reply> {
    const { authorizationEndpoint } = (await this.#provider.state()).metadata;
    if (authorizationEndpoint === null) throw new Error('the provider has no authorization endpoint');
    const { request } = context;
    const requested = request.query === '' ? request.rawPath : `${request.rawPath}?${request.query}`;
    const target = requested.length > maxTargetLength ? '/' : requested;
    const login = { state: random(), nonce: random(), verifier: random(), target };
    const pending = [login, ...this.#pending(context)].slice(0, maxLogins);
    this.#store(context, pending);
    return redirect(this.#authorizationUrl(authorizationEndpoint, login));
  }

  /** Handles the callback with the code. */
  async finish(context: AccessContext): Promise<Reply> {
    const login = this.#take(context);
    if (login === null) return this.#refusals.login;
    const state = await this.#provider.state();
    const code = single(context, 'code');
    const issuer = single(context, 'iss');
    // RFC 9207, 2.4.
    if (issuer === null ? state.metadata.namesIssuer : issuer !== state.metadata.issuer) return this.#refusals.login;
    if (code === null || code === '' || single(context, 'error') !== null) return this.#refusals.login;
    const answer = await this.#endpoint.request(context.client.ip, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.#redirectUri,
      code_verifier: login.verifier,
    });
    const nonce = answer?.claims?.['nonce'];
    if (answer === null || typeof nonce !== 'string' || !equalSecrets(nonce, login.nonce)) return this.#refusals.login;
    if (!this.#sessions.start(context, answer)) throw new Error('the tokens of a session are too large for cookies');
    return redirect(this.#config.login_redirect_uri?.[0] ?? this.#callback.origin + login.target);
  }

  /** Replies 503 if the provider fails. */
  orUnavailable(answer: Promise<Reply>): Promise<Reply> {
    return answer.catch((error: unknown) => {
      this.#failed(error);
      return this.#refusals.unavailable;
    });
  }

  #authorizationUrl(endpoint: string, login: Login): string {
    const { authorization_query_args_names: names, authorization_query_args_values: values } = this.#config;
    const url = new URL(endpoint);
    for (const [at, name] of (names ?? []).entries()) url.searchParams.set(name, values?.[at] ?? '');
    const scopes = new Set(['openid', ...this.#config.scopes]);
    const required = {
      response_type: 'code',
      client_id: this.#config.client_id?.[0] ?? '',
      redirect_uri: this.#redirectUri,
      scope: [...scopes].join(' '),
      state: login.state,
      nonce: login.nonce,
      code_challenge: hash('sha256', login.verifier, 'base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(required)) url.searchParams.set(name, value);
    return url.href;
  }

  /** The pending login with the state of the callback. It can be used once. */
  #take(context: AccessContext): Login | null {
    const state = single(context, 'state');
    if (state === null) return null;
    const pending = this.#pending(context);
    const login = pending.find((candidate) => equalSecrets(candidate.state, state)) ?? null;
    if (login === null) return null;
    const others = pending.filter((candidate) => candidate !== login);
    if (others.length === 0) sendCookies(context, this.#cookie.clear(context.request));
    else this.#store(context, others);
    return login;
  }

  #pending({ request }: AccessContext): readonly Login[] {
    const content = this.#cookie.read(request);
    return content === null ? [] : decodeLogins(content);
  }

  #store(context: AccessContext, logins: readonly Login[]): void {
    const lifetime = this.#config.authorization_cookie_lifetime;
    const until = Math.floor(Date.now() / 1000) + lifetime;
    sendCookies(context, this.#cookie.write(context.request, JSON.stringify(logins), until, lifetime) ?? []);
  }
}

export function redirect(location: string, status = 302): Reply {
  return reply({ status, headers: { Location: location, 'Cache-Control': 'no-store' } });
}

/** [] for any other text: it was encrypted, but may come from an older version. */
function decodeLogins(text: string): readonly Login[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isLogin) : [];
  } catch {
    return [];
  }
}

function isLogin(value: unknown): value is Login {
  if (typeof value !== 'object' || value === null) return false;
  const { state, nonce, verifier, target } = value as Readonly<Record<string, unknown>>;
  return [state, nonce, verifier, target].every((text) => typeof text === 'string');
}

/** Null: the argument is absent. '': it occurs more than once. */
function single({ request }: AccessContext, name: string): string | null {
  const values = request.queryArguments()[name];
  if (values === undefined || values.length === 0) return null;
  return values.length === 1 ? (values[0] ?? '') : '';
}

/** 256 random bits. */
function random(): string {
  return randomBytes(32).toString('base64url');
}
