import { utf8FromLatin1 } from '../../plugin-kit/http/index.ts';
import type { Attributes } from '../../plugin-kit/telemetry/otlp/index.ts';
import type { LogContext } from '../../plugin-sdk/index.ts';

/** The used part of the log record, in which secrets are masked. */
interface ShownRecord {
  readonly request: { readonly url: string; readonly uri: string; readonly headers: Readonly<Record<string, unknown>> };
  readonly route?: { readonly paths?: readonly string[] | null };
}

/** Attributes of a request's own span: Kong's, and those of the HTTP semantic conventions. */
export function requestAttributes(context: LogContext): Attributes {
  const { request, client, response, measures, connection, route, service } = context;
  const { request: shown, route: row } = context.record() as unknown as ShownRecord;
  const question = shown.uri.indexOf('?');
  const path = question < 0 ? shown.uri : shown.uri.slice(0, question);
  const pattern = routePattern(row?.paths ?? [], utf8FromLatin1(request.path)) ?? route?.name;
  const agent = shown.headers['user-agent'];
  // A client that disconnected has received no status.
  const status = response.status === 0 ? undefined : response.status;
  return {
    'http.method': request.method,
    'http.url': shown.url,
    'http.host': request.host,
    'http.scheme': request.scheme,
    'http.flavor': request.httpVersion === '2' ? '2.0' : request.httpVersion,
    'http.client_ip': client.ip,
    'net.peer.ip': client.peerIp,
    'http.status_code': status,
    'http.route': pattern,
    'http.request.method': request.method,
    'url.scheme': request.scheme,
    'url.path': path,
    'url.query': question < 0 ? undefined : shown.uri.slice(question + 1),
    'server.address': request.host === '' ? undefined : request.host,
    'server.port': request.port,
    'client.address': client.ip,
    'network.peer.address': client.peerIp,
    'network.peer.port': client.port,
    'network.protocol.name': 'http',
    'network.protocol.version': request.httpVersion,
    'http.response.status_code': status,
    'user_agent.original': typeof agent === 'string' ? agent : undefined,
    'tls.protocol.version': connection.tls?.version,
    'error.type': measures.aborted ? 'aborted' : response.status >= 500 ? String(response.status) : undefined,
    'kong.request.id': request.id,
    'kong.route.id': route?.id,
    'kong.route.name': route?.name,
    'kong.service.id': service?.id,
    'kong.service.name': service?.name,
    'kong.consumer.id': client.consumer?.id,
    'kong.response.source': response.source === 'upstream' ? 'upstream' : 'kong',
    'kong.balancer.tries': measures.tries,
    ...rpcAttributes(context),
  };
}

function rpcAttributes({ request, response }: LogContext): Attributes {
  if (request.header('content-type')?.startsWith('application/grpc') !== true) return {};
  const [, service, method] = /^\/([^/]+)\/([^/]+)$/.exec(request.path) ?? [];
  const code = response.header('grpc-status');
  return {
    'rpc.system': 'grpc',
    'rpc.service': service,
    'rpc.method': method,
    'rpc.grpc.status_code': code !== null && /^\d{1,2}$/.test(code) ? Number(code) : undefined,
  };
}

/** The path of the route that matched: of several, the longest prefix of the request's path; regular expressions last. */
function routePattern(paths: readonly string[], path: string): string | undefined {
  const fitting = paths.filter((one) => path.startsWith(one)).sort((a, b) => b.length - a.length);
  return fitting[0] ?? paths.find((one) => one.startsWith('~')) ?? paths[0];
}
