import type { Row } from '../../../shared/entities/entity.ts';

/** How a client can authenticate. */
export interface AuthDemand {
  readonly plugin: string;
  /** In words: `API key`. */
  readonly title: string;
  /** Where the client sends it: `header apikey`. */
  readonly places: readonly string[];
}

/** A limit that holds for a client. */
export interface LimitDemand {
  readonly plugin: string;
  readonly limit: number;
  /** `requests`, `requests at once`, `bytes`, or the name of a counted unit. */
  readonly unit: string;
  /** `minute`; null: of one request, or at any time. */
  readonly per: string | null;
}

/** What the gateway demands of requests with the same plugins. */
export interface Demands {
  /** Empty: the gateway requires no credential. */
  readonly auth: readonly AuthDemand[];
  /** `all`: the client needs each of them. `any`: one is enough. */
  readonly needs: 'all' | 'any';
  /** A request without a credential is accepted too. */
  readonly optional: boolean;
  /** Groups that the consumer must, or must not, belong to. Null: the gateway does not ask for groups. */
  readonly groups: { readonly kind: 'allow' | 'deny'; readonly names: readonly string[] } | null;
  readonly limits: readonly LimitDemand[];
}

type Config = Readonly<Record<string, unknown>>;

const authKinds: Readonly<Record<string, (config: Config) => Omit<AuthDemand, 'plugin'>>> = {
  'key-auth': (config) => ({ title: 'API key', places: keyPlaces(config) }),
  'basic-auth': () => ({ title: 'User name and password', places: ['header Authorization: Basic'] }),
  jwt: (config) => ({
    title: 'JSON Web Token',
    places: [
      ...textsOf(config['header_names']).map((name) =>
        name.toLowerCase() === 'authorization' ? 'header Authorization: Bearer' : `header ${name}`,
      ),
      ...textsOf(config['uri_param_names']).map((name) => `query ${name}`),
      ...textsOf(config['cookie_names']).map((name) => `cookie ${name}`),
    ],
  }),
  'hmac-auth': () => ({ title: 'HMAC signature', places: ['header Authorization: hmac'] }),
  'ldap-auth': () => ({ title: 'Directory user and password', places: ['header Authorization'] }),
  oauth2: () => ({ title: 'OAuth 2 access token', places: ['header Authorization: Bearer'] }),
  'oauth2-introspection': () => ({ title: 'OAuth 2 access token', places: ['header Authorization: Bearer'] }),
  'openid-connect': () => ({ title: 'OpenID Connect', places: ['header Authorization: Bearer'] }),
  'mtls-auth': () => ({ title: 'Client certificate', places: ['TLS connection'] }),
  session: () => ({ title: 'Session', places: ['cookie'] }),
};

/** A session follows from another authentication. */
const secondary: ReadonlySet<string> = new Set(['session']);
const periods = ['second', 'minute', 'hour', 'day', 'month', 'year'];

/** What these plugin instances, one of each plugin, demand of a client. */
export function demandsOf(plugins: ReadonlyMap<string, Row>): Demands {
  const auth: AuthDemand[] = [];
  let optional = false;
  for (const [plugin, kind] of Object.entries(authKinds)) {
    const row = plugins.get(plugin);
    if (row === undefined || secondary.has(plugin)) continue;
    const config = configOf(row);
    auth.push({ plugin, ...kind(config) });
    if (typeof config['anonymous'] === 'string' && config['anonymous'] !== '') optional = true;
  }
  const either = plugins.get('auth-any');
  const anonymous = either === undefined ? null : configOf(either)['anonymous'];
  if (either !== undefined) optional = typeof anonymous === 'string' && anonymous !== '';
  const limits = [...plugins].flatMap(([plugin, row]) => limitsOf(plugin, configOf(row)));
  return {
    auth,
    needs: either !== undefined || optional ? 'any' : 'all',
    optional: optional && auth.length > 0,
    groups: groupsOf(plugins.get('acl')),
    limits,
  };
}

function limitsOf(plugin: string, config: Config): readonly LimitDemand[] {
  switch (plugin) {
    case 'rate-limiting':
    case 'quotas':
      return windowsOf(plugin, config, 'requests');
    case 'response-ratelimiting': {
      const { limits } = config;
      if (typeof limits !== 'object' || limits === null) return [];
      return Object.entries(limits).flatMap(([unit, windows]) => windowsOf(plugin, Object(windows) as Config, unit));
    }
    case 'concurrency-limiting':
      return numberOf(plugin, config['limit'], 'requests at once', null);
    case 'throttling':
      return rateOf(plugin, config['rate']);
    case 'request-size-limiting':
      return sizeOf(plugin, config);
    default:
      return [];
  }
}

function windowsOf(plugin: string, config: Config, unit: string): readonly LimitDemand[] {
  return periods.flatMap((per) => numberOf(plugin, config[per], unit, per));
}

function numberOf(plugin: string, limit: unknown, unit: string, per: string | null): readonly LimitDemand[] {
  return typeof limit === 'number' ? [{ plugin, limit, unit, per }] : [];
}

/** `10r/s` */
function rateOf(plugin: string, rate: unknown): readonly LimitDemand[] {
  const [, limit, per] = /^(\d+(?:\.\d+)?)r\/([smh])$/.exec(typeof rate === 'string' ? rate : '') ?? [];
  if (limit === undefined) return [];
  const words: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour' };
  return [{ plugin, limit: Number(limit), unit: 'requests', per: words[per ?? 's'] ?? 'second' }];
}

const sizeUnits: Readonly<Record<string, number>> = { megabytes: 2 ** 20, kilobytes: 2 ** 10, bytes: 1 };

function sizeOf(plugin: string, { allowed_payload_size: size, size_unit: unit }: Config): readonly LimitDemand[] {
  const factor = sizeUnits[String(unit)] ?? 2 ** 20;
  return typeof size === 'number' ? [{ plugin, limit: size * factor, unit: 'bytes', per: null }] : [];
}

function keyPlaces(config: Config): readonly string[] {
  const kinds = [
    ['key_in_header', 'header'],
    ['key_in_query', 'query'],
    ['key_in_body', 'body field'],
  ] as const;
  const names = textsOf(config['key_names']);
  return kinds.flatMap(([field, kind]) => (config[field] === true ? names.map((name) => `${kind} ${name}`) : []));
}

function groupsOf(row: Row | undefined): Demands['groups'] {
  if (row === undefined) return null;
  const { allow, deny } = configOf(row);
  const allowed = textsOf(allow);
  return allowed.length > 0 ? { kind: 'allow', names: allowed } : { kind: 'deny', names: textsOf(deny) };
}

function configOf(row: Row): Config {
  const { config } = row;
  return typeof config === 'object' && config !== null ? (config as Config) : {};
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
