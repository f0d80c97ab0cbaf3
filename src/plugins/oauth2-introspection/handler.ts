import type { ConsumerField } from '../../plugin-kit/auth/index.ts';
import { authAccess, bearerChallenge, bearerToken, consumerBy } from '../../plugin-kit/auth/index.ts';
import { outageReporter } from '../../plugin-kit/logging/index.ts';
import { clientGroup } from '../../plugin-kit/runtime/index.ts';
import type { AccessContext, ConsumerView, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { refuse, replyJson } from '../../plugin-sdk/index.ts';
import { type ActiveToken, activeToken, ownHeaders } from './active-token.ts';
import { IntrospectionEndpoint, type RequestInfo } from './introspection-endpoint.ts';
import type { IntrospectionConfig } from './schema.ts';
import { TokenCache, tokenKey } from './token-cache.ts';

type Outcome = Reply | undefined;

const tokenArguments: ReadonlySet<string> = new Set(['access_token']);
const consumerFields: Readonly<Record<IntrospectionConfig['consumer_by'], readonly ConsumerField[]>> = {
  username: ['username'],
  client_id: ['custom_id', 'username'],
};

/** Opaque tokens, which only the authorization server can validate (RFC 7662). */
export function introspectTokens(config: IntrospectionConfig, tools: PluginTools): PluginPhases {
  const introspection = new Introspection(config, tools);
  const access = authAccess(tools, {
    anonymous: config.anonymous,
    runOnPreflight: config.run_on_preflight,
    attempt: (context) => introspection.attempt(context),
  });
  const own = ownHeaders(config);
  /** Also when another plugin has authenticated the client: its own headers are never trusted, and the token stays hidden from the backend. */
  const strip = ({ request, upstream }: AccessContext): void => {
    for (const name of own) upstream.removeHeader(name);
    if (!config.hide_credentials) return;
    if (bearerToken(request) !== null) upstream.removeHeader('authorization');
    upstream.removeQueryArguments(tokenArguments);
  };
  return {
    access(context) {
      strip(context);
      return access(context);
    },
    accessSkipped: strip,
  };
}

class Introspection {
  readonly #config: IntrospectionConfig;
  readonly #tools: PluginTools;
  readonly #endpoint: IntrospectionEndpoint;
  readonly #known: TokenCache<ActiveToken>;
  readonly #failed: (error: unknown) => void;
  readonly #refusals: ReturnType<typeof refusalsOf>;

  constructor(config: IntrospectionConfig, tools: PluginTools) {
    this.#config = config;
    this.#tools = tools;
    this.#endpoint = new IntrospectionEndpoint(config, tools);
    this.#known = new TokenCache({ ttl: config.ttl, negativeTtl: config.negative_ttl }, config.timeout);
    this.#failed = outageReporter(tools, 'introspection_failures', 'the introspection request failed');
    this.#refusals = refusalsOf(config);
  }

  attempt(context: AccessContext): Outcome | Promise<Outcome> {
    const token = tokenOf(context);
    if (token === null) return this.#refusals.missing;
    if (token === '') return this.#refusals.invalid;
    const about = this.#config.introspect_request ? askedFor(context) : null;
    const key = tokenKey(token, about === null ? '' : `${about.method} ${about.path}`);
    const known = this.#known.get(key);
    return known === undefined ? this.#introspect(context, token, key, about) : this.#decide(context, known);
  }

  async #introspect(context: AccessContext, token: string, key: string, about: RequestInfo | null): Promise<Outcome> {
    let found: ActiveToken | null;
    try {
      found = await this.#known.find(key, clientGroup(context.client.ip), async () => {
        const claims = await this.#endpoint.introspect(token, about);
        const active = claims === null ? null : activeToken(this.#config, claims);
        return active === null ? null : { value: active, expiresAt: expiryOf(active) };
      });
    } catch (error) {
      this.#failed(error);
      return this.#refusals.unavailable;
    }
    return this.#decide(context, found);
  }

  #decide(context: AccessContext, token: ActiveToken | null): Outcome | Promise<Outcome> {
    if (token === null) return this.#refusals.invalid;
    if (!token.hasScopes) return this.#refusals.scope;
    if (token.consumer === null) return this.#accept(context, token, null);
    const fields = consumerFields[this.#config.consumer_by];
    const found = consumerBy(this.#tools.entities, fields, token.consumer, context.client.ip);
    return found instanceof Promise
      ? found.then((consumer) => this.#accept(context, token, consumer))
      : this.#accept(context, token, found);
  }

  #accept(context: AccessContext, token: ActiveToken, consumer: ConsumerView | null): Outcome {
    if (consumer === null && !this.#config.consumer_optional) return this.#refusals.consumer;
    const { scopes, claims, identifier } = token;
    context.authenticate(consumer, { id: null, identifier }, { scopes, claims });
    for (const [name, value] of token.headers) if (value !== null) context.upstream.setHeader(name, value);
    if (this.#config.hide_credentials) {
      context.upstream.removeHeader('authorization');
      context.upstream.removeQueryArguments(tokenArguments);
    }
    return undefined;
  }
}

/** Empty: there are several tokens, which is ambiguous. */
function tokenOf({ request }: AccessContext): string | null {
  const inHeader = bearerToken(request);
  const inQuery = request.query.includes('access_token') ? (request.queryArguments()['access_token'] ?? []) : [];
  if (inQuery.length === 0) return inHeader;
  return inHeader !== null || inQuery.length > 1 ? '' : (inQuery[0] ?? '');
}

/** The normalised path, as it is routed and forwarded: another spelling could look like an allowed path. */
function askedFor({ request }: AccessContext): RequestInfo {
  return { path: request.path, method: request.method };
}

function expiryOf({ claims }: ActiveToken): number | null {
  return typeof claims['exp'] === 'number' ? claims['exp'] : null;
}

function refusalsOf({ realm, scopes_required: scopes }: IntrospectionConfig) {
  const answer = (status: number, error: string, description: string, more: Readonly<Record<string, string>> = {}) =>
    replyJson(
      status,
      { error, error_description: description },
      { 'WWW-Authenticate': bearerChallenge({ realm, error, error_description: description, ...more }) },
    );
  const missing = { error: 'invalid_request', error_description: 'The access token is missing' };
  return {
    // RFC 6750, 3.1: no error code for a request without credentials.
    missing: replyJson(401, missing, { 'WWW-Authenticate': bearerChallenge({ realm }) }),
    invalid: answer(401, 'invalid_token', 'The access token is invalid or has expired'),
    scope: answer(403, 'insufficient_scope', 'The access token lacks a scope', { scope: scopes?.[0] ?? '' }),
    consumer: refuse(403, 'Forbidden'),
    unavailable: refuse(503, 'Service temporarily unavailable'),
  };
}
