import type { AccessContext, HeaderFilterContext, LogContext, RewriteContext } from '../../../plugin-sdk/contexts.ts';
import type { RequestMeasures } from '../../../plugin-sdk/request-views.ts';
import type { FunctionPhase } from '../phases.ts';

/** Any context of a phase; an operation that its phase does not have fails. */
export type AnyContext = AccessContext & RewriteContext & HeaderFilterContext & LogContext;

export type Argument = string | number | boolean | null;

/**
 * One member of what functions in the sandbox see. Arguments and results are primitive values only: an object of the gateway would lead
 * to its constructor, and from there to everything. `json`: the result crosses as JSON, and becomes an object in there.
 */
export interface Operation {
  /** Dotted: `request.header`. */
  readonly path: string;
  readonly phases: readonly FunctionPhase[];
  readonly kind: 'value' | 'method';
  readonly json?: boolean;
  /** How the arguments cross. */
  readonly arguments: readonly ('text' | 'number' | 'json')[];
  run(context: AnyContext, first: Argument, second: Argument): unknown;
}

type Run = Operation['run'];

const all: readonly FunctionPhase[] = ['rewrite', 'access', 'header_filter', 'body_filter', 'log'];
const toBackend: readonly FunctionPhase[] = ['rewrite', 'access'];
const withResponse: readonly FunctionPhase[] = ['header_filter', 'body_filter', 'log'];

const value = (phases: readonly FunctionPhase[], path: string, run: Run): Operation => ({
  ...{ path, phases, kind: 'value', arguments: [], run },
});
const data = (phases: readonly FunctionPhase[], path: string, run: Run): Operation => ({
  ...value(phases, path, run),
  json: true,
});
const method = (
  phases: readonly FunctionPhase[],
  path: string,
  parameters: Operation['arguments'],
  run: Run,
): Operation => ({ ...{ path, phases, kind: 'method', arguments: parameters, run } });
const dataMethod = (
  phases: readonly FunctionPhase[],
  path: string,
  parameters: Operation['arguments'],
  run: Run,
): Operation => ({ ...method(phases, path, parameters, run), json: true });

/** Everything that functions in the sandbox can read and do, apart from `get`, `set` and the helpers. */
export const operations: readonly Operation[] = [
  value(all, 'request.id', (c) => c.request.id),
  value(all, 'request.method', (c) => c.request.method),
  value(all, 'request.scheme', (c) => c.request.scheme),
  value(all, 'request.host', (c) => c.request.host),
  value(all, 'request.port', (c) => c.request.port),
  value(all, 'request.path', (c) => c.request.path),
  value(all, 'request.rawPath', (c) => c.request.rawPath),
  value(all, 'request.query', (c) => c.request.query),
  value(all, 'request.httpVersion', (c) => c.request.httpVersion),
  value(all, 'request.bodyLength', (c) => c.request.bodyLength),
  value(all, 'request.upgrade', (c) => c.request.upgrade),
  method(all, 'request.header', ['text'], (c, name) => c.request.header(text(name))),
  dataMethod(all, 'request.headerValues', ['text'], (c, name) => c.request.headerValues(text(name))),
  dataMethod(all, 'request.headers', [], (c) => c.request.headers()),
  method(all, 'request.queryArgument', ['text'], (c, name) => c.request.queryArgument(text(name))),
  dataMethod(all, 'request.queryArguments', [], (c) => c.request.queryArguments()),
  dataMethod(all, 'request.uriCaptures', [], (c) => c.request.uriCaptures()),
  value(all, 'client.ip', (c) => c.client.ip),
  value(all, 'client.peerIp', (c) => c.client.peerIp),
  value(all, 'client.port', (c) => c.client.port),
  data(all, 'client.consumer', (c) => picked(c.client.consumer, ['id', 'username', 'customId', 'tags'])),
  data(all, 'client.credential', (c) => picked(c.client.credential, ['id', 'identifier'])),
  data(all, 'connection.tls', (c) => picked(c.connection.tls, ['version', 'cipher'])),
  value(all, 'connection.localIp', (c) => c.connection.localIp),
  value(all, 'connection.localPort', (c) => c.connection.localPort),
  data(all, 'route', (c) => picked(c.route, ['id', 'name', 'tags'])),
  data(all, 'service', (c) => picked(c.service, ['id', 'name', 'host', 'port', 'protocol', 'path', 'tags'])),
  value(all, 'draw', (c) => c.draw),
  value(all, 'dry', (c) => c.dry),
  method(all, 'log', ['text', 'json'], (c, field, given) => c.log(text(field), parsed(given))),

  method(toBackend, 'upstream.setHeader', ['text', 'text'], (c, name, to) =>
    c.upstream.setHeader(text(name), text(to)),
  ),
  method(toBackend, 'upstream.addHeader', ['text', 'text'], (c, name, to) =>
    c.upstream.addHeader(text(name), text(to)),
  ),
  method(toBackend, 'upstream.removeHeader', ['text'], (c, name) => c.upstream.removeHeader(text(name))),
  dataMethod(toBackend, 'upstream.headerValues', ['text'], (c, name) => c.upstream.headerValues(text(name))),
  method(toBackend, 'upstream.setMethod', ['text'], (c, name) => c.upstream.setMethod(text(name))),
  value(toBackend, 'upstream.pathInService', (c) => c.upstream.pathInService),
  method(toBackend, 'upstream.setPath', ['text'], (c, path) => c.upstream.setPath(text(path))),
  method(toBackend, 'upstream.setPathInService', ['text'], (c, path) => c.upstream.setPathInService(text(path))),
  method(toBackend, 'upstream.query', [], (c) => c.upstream.query()),
  method(toBackend, 'upstream.setQuery', ['text'], (c, query) => c.upstream.setQuery(text(query))),
  method(toBackend, 'upstream.removeQueryArguments', ['json'], (c, names) =>
    c.upstream.removeQueryArguments(new Set(texts(names))),
  ),
  method(toBackend, 'upstream.removeCookies', ['json'], (c, names) => c.upstream.removeCookies(texts(names))),
  method(toBackend, 'upstream.setTimeouts', ['json'], (c, timeouts) => c.upstream.setTimeouts(numbers(timeouts))),
  method(toBackend, 'upstream.setUpstream', ['text'], (c, name) => c.upstream.setUpstream(text(name))),
  method(toBackend, 'upstream.setService', ['text'], (c, name) => c.upstream.setService(text(name))),
  method(['access'], 'upstream.setBody', ['text'], (c, body) => c.upstream.setBody(Buffer.from(text(body)))),
  value(['access'], 'followed', (c) => c.followed),
  method(['access'], 'setApiVersion', ['text'], (c, name) => c.setApiVersion(text(name))),
  method(['access'], 'limitBody', ['number'], (c, bytes) => c.limitBody(Number(bytes))),

  value(withResponse, 'response.status', (c) => c.response.status),
  value(withResponse, 'response.source', (c) => c.response.source),
  value(withResponse, 'response.bodyLength', (c) => c.response.bodyLength),
  method(withResponse, 'response.header', ['text'], (c, name) => c.response.header(text(name))),
  dataMethod(withResponse, 'response.headerValues', ['text'], (c, name) => c.response.headerValues(text(name))),
  dataMethod(withResponse, 'response.headers', [], (c) => c.response.headers()),
  method(['header_filter'], 'response.setStatus', ['number'], (c, status) => c.response.setStatus(Number(status))),
  method(['header_filter'], 'response.setHeader', ['text', 'text'], (c, name, to) =>
    c.response.setHeader(text(name), text(to)),
  ),
  method(['header_filter'], 'response.addHeader', ['text', 'text'], (c, name, to) =>
    c.response.addHeader(text(name), text(to)),
  ),
  method(['header_filter'], 'response.removeHeader', ['text'], (c, name) => c.response.removeHeader(text(name))),
  data(['log'], 'measures', (c) => picked(c.measures, measureNames)),
  dataMethod(['log'], 'record', [], (c) => c.record()),
  method(['log'], 'recordText', [], (c) => c.recordText()),
];

/** Only what the SDK documents: the gateway's own objects have more. */
function picked<T extends object>(from: T | null, names: readonly (keyof T & string)[]): Partial<T> | null {
  if (from === null) return null;
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Partial<T>;
}

function text(given: Argument): string {
  if (typeof given !== 'string') throw new TypeError('expected a text');
  return given;
}

function parsed(given: Argument): unknown {
  return JSON.parse(text(given));
}

function texts(given: Argument): readonly string[] {
  const list = parsed(given);
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string'))
    throw new TypeError('expected a list of texts');
  return list;
}

const measureNames = [
  'startedAt',
  'total',
  'gateway',
  'upstream',
  'receive',
  'bytesReceived',
  'bytesSent',
  'upstreamStatus',
  'tries',
  'aborted',
] as const satisfies readonly (keyof RequestMeasures)[];

const timeoutNames = ['connect', 'send', 'firstByte', 'idle', 'total'] as const;

function numbers(given: Argument): Readonly<Partial<Record<(typeof timeoutNames)[number], number>>> {
  const fields = Object(parsed(given)) as Readonly<Record<string, unknown>>;
  const found = timeoutNames.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, Number(fields[name])]);
  return Object.fromEntries(found);
}
