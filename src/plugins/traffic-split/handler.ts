import { randomBytes } from 'node:crypto';
import { cookieValues, setCookie } from '../../plugin-kit/http/index.ts';
import { type AccessContext, contextKey, type PluginPhases, type PluginTools } from '../../plugin-sdk/index.ts';
import type { TrafficSplitConfig } from './schema.ts';
import { pointOf, stretchAt, stretches } from './shares.ts';

type Part = TrafficSplitConfig['backends'][number];

const partKey = contextKey<string>('part');
const newCookieKey = contextKey<string>('new cookie');
const cookieForm = /^[0-9a-f]{16}$/;

export function splitTraffic(config: TrafficSplitConfig, tools: PluginTools): PluginPhases {
  const parts = config.backends;
  const ends = stretches(parts.map(({ weight }) => weight));
  const byName = new Map(parts.map((part) => [part.name, part]));
  const stickyKey = keyOf(config);
  const attributes = { path: '/', domain: null, sameSite: 'Lax', httpOnly: true } as const;
  const { force_header: forceHeader, cookie_name: cookie, cookie_max_age: maxAge } = config;
  const missing = new Set<string>();

  function choose(context: AccessContext): Part | undefined {
    const forced = forceHeader === null ? null : context.request.header(forceHeader);
    if (forced !== null) {
      const part = byName.get(forced);
      if (part !== undefined) return part;
    }
    const key = stickyKey(context);
    // Includes the instance, so that splits are independent of each other.
    return parts[stretchAt(ends, key === null ? Math.random() : pointOf(`${tools.instanceId} ${key}`))];
  }

  function send(context: AccessContext, { service, upstream }: Part): boolean {
    if (service !== null && !context.upstream.setService(service)) return absent(`service ${service}`);
    if (upstream !== null && !context.upstream.setUpstream(upstream)) return absent(`upstream ${upstream}`);
    return true;
  }

  /** The route's own service is better than a failure. */
  function absent(what: string): boolean {
    tools.count('missing');
    if (missing.has(what)) return false;
    missing.add(what);
    tools.log.warn(`there is no ${what}: its part of the traffic goes to the route's own service`);
    return false;
  }

  return {
    access(context) {
      const part = choose(context);
      if (part === undefined) return undefined;
      const name = send(context, part) ? part.name : 'none';
      context.set(partKey, name);
      return undefined;
    },
    headerFilter(context) {
      const made = context.get(newCookieKey);
      if (made !== undefined) {
        const secure = context.request.scheme === 'https';
        context.response.addHeader(
          'Set-Cookie',
          setCookie(cookie, made, { ...attributes, secure }, maxAge === 0 ? null : maxAge),
        );
      }
      const part = context.get(partKey);
      if (config.show_header && part !== undefined) context.response.setHeader('X-Traffic-Split', part);
    },
    log(context) {
      const part = context.get(partKey);
      if (part !== undefined) context.log('traffic_split', part);
    },
  };
}

/** The key that identifies the client; null: the request has none. */
function keyOf(config: TrafficSplitConfig): (context: AccessContext) => string | null {
  const { header_name: header, cookie_name: cookie } = config;
  switch (config.sticky_by) {
    case 'none':
      return () => null;
    case 'consumer':
      return ({ client }) => client.consumer?.id ?? client.credential?.id ?? null;
    case 'ip':
      return ({ client }) => client.ip;
    case 'header':
      return ({ request }) => (header === null ? null : request.header(header));
    default:
      return (context) => {
        const known = cookieValues(context.request, cookie).find((value) => cookieForm.test(value));
        if (known !== undefined) return known;
        const made = randomBytes(8).toString('hex');
        context.set(newCookieKey, made);
        return made;
      };
  }
}
