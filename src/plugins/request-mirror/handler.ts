import { outageReporter } from '../../plugin-kit/logging/index.ts';
import type { AccessContext, PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { type Copy, Mirror } from './mirror.ts';
import type { RequestMirrorConfig } from './schema.ts';

/** Hop-by-hop headers (RFC 9110 7.6.1), and headers that the copy has its own values of. */
const notCopied: readonly string[] = [
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

export function mirrorRequests(config: RequestMirrorConfig, tools: PluginTools): PluginPhases {
  const mirror = new Mirror({
    url: config.url,
    timeout: config.timeout,
    maxInFlight: config.max_in_flight,
    verify: config.tls_verify,
    authorities: tools.settings.trustedCertificates,
    failed: outageReporter(tools, 'failed', 'a copy of a request could not be delivered'),
  });
  const removed = new Set([...notCopied, ...config.remove_headers.map((name) => name.toLowerCase())]);
  const methods = config.methods === null ? null : new Set(config.methods);
  const share = config.percent / 100;

  function copyOf({ request, upstream }: AccessContext, body: Uint8Array | null): Copy {
    const hopByHop = new Set(request.headerValues('connection').flatMap((line) => line.toLowerCase().split(/[\s,]+/)));
    // Fields named in `Connection` are copied only if they are forwarded.
    const ends = (name: string): boolean => hopByHop.has(name) && upstream.headerValues(name).length === 0;
    const headers = Object.entries(request.headers()).filter(([name]) => !removed.has(name) && !ends(name));
    const query = request.query === '' ? '' : `?${request.query}`;
    return {
      method: request.method,
      target: request.rawPath + query,
      headers: { ...Object.fromEntries(headers), 'x-mirrored': ['1'], 'x-kong-request-id': [request.id] },
      body,
    };
  }

  function send(context: AccessContext, body: Uint8Array | null): void {
    tools.count(mirror.send(copyOf(context, body)) ? 'sent' : 'dropped');
  }

  return {
    access(context) {
      const { request } = context;
      if (context.dry || (methods !== null && !methods.has(request.method))) return undefined;
      if (share < 1 && Math.random() >= share) return undefined;
      // A tunnel cannot be copied.
      if (request.upgrade !== '') return undefined;
      const size = bodySize(context);
      if (size === 0) {
        send(context, null);
        return undefined;
      }
      if (!config.with_body || size > config.max_body) {
        tools.count('skipped');
        return undefined;
      }
      return context.body().then((body) => {
        send(context, body);
        return undefined;
      });
    },
    dispose: () => mirror.close(),
  };
}

/** Bytes; Infinity when they are not declared. */
function bodySize({ request }: AccessContext): number {
  return request.bodyLength < 0 ? Number.POSITIVE_INFINITY : request.bodyLength;
}
