import {
  contentTypeOf,
  type ExplainedRequest,
  headerOf,
  headerProblem,
  isToken,
  parseTarget,
  utf8Bytes,
} from '../../../../shared/explain/explained-request.ts';
import { invalidInput } from '../../errors.ts';

/** Maximum bytes of the method, the URL and the headers together. */
export const maxHead = 65_536;
/** Maximum bytes of a body. */
export const maxBody = 1_048_576;
const maxHeaders = 200;

const known: ReadonlySet<string> = new Set(['method', 'url', 'headers', 'body', 'body_base64', 'dry']);

/** Headers that follow from the body, belong to the connection, or authorise the explanation. */
const computed: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-kong-request-debug',
  'x-kong-request-debug-log',
  'x-kong-request-debug-token',
  'x-sluicegate-debug-token',
  'x-sluicegate-explain',
]);

/** The request in the body of `POST /explain`. Throws a 400 that names each wrong field. */
export function readExplainRequest(value: Readonly<Record<string, unknown>>): ExplainedRequest {
  const problems: Record<string, string> = {};
  for (const name of Object.keys(value)) if (!known.has(name)) problems[name] = 'unknown field';
  const target = readTarget(value['url'], problems);
  const headers = readHeaders(value['headers'] ?? {}, problems);
  const body = readBody(value, problems);
  const method = readMethod(value['method'] ?? (body === null ? 'GET' : 'POST'), problems);
  const dry = value['dry'] ?? false;
  if (typeof dry !== 'boolean') problems['dry'] = 'expected a boolean';
  if (headSize(method, target.path, headers) > maxHead) {
    problems['headers'] ??= `the method, the URL and the headers have more than ${maxHead} bytes`;
  }
  if (Object.keys(problems).length > 0) throw invalidInput(problems);
  const request = { headers };
  return {
    method,
    path: target.path,
    headers: [
      ...(target.host === null || headerOf(request, 'host') !== null ? [] : [['Host', target.host] as const]),
      ...headers,
      ...(body === null || headerOf(request, 'content-type') !== null
        ? []
        : [['Content-Type', contentTypeOf(body)] as const]),
    ],
    body,
    secure: target.secure,
    dry: dry === true,
  };
}

type Problems = Record<string, string>;

function readMethod(value: unknown, problems: Problems): string {
  if (typeof value !== 'string') problems['method'] = 'expected a string';
  else if (!isToken(value)) problems['method'] = 'not a method';
  else if (value.toUpperCase() === 'CONNECT') problems['method'] = 'the gateway opens no tunnels';
  else return value.toUpperCase();
  return 'GET';
}

function readTarget(value: unknown, problems: Problems) {
  const parsed = typeof value === 'string' ? parseTarget(value.slice(0, maxHead + 1)) : null;
  if (typeof parsed === 'object' && parsed !== null) return parsed;
  problems['url'] = value === undefined ? 'required field missing' : (parsed ?? 'expected a string');
  return { path: '/', host: null, secure: false };
}

/** An object of name and value, or of name and values for a header that is repeated. */
function readHeaders(value: unknown, problems: Problems): readonly (readonly [string, string])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems['headers'] = 'expected a record';
    return [];
  }
  const headers: [string, string][] = [];
  for (const [name, given] of Object.entries(value as Readonly<Record<string, unknown>>)) {
    for (const one of Array.isArray(given) ? given : [given]) {
      if (typeof one !== 'string') problems['headers'] ??= `the value of the header ${shown(name)} is not a string`;
      else {
        const problem = refusal(name) ?? headerProblem(name, one);
        if (problem !== null) problems['headers'] ??= problem;
        headers.push([name, utf8Bytes(one.trim())]);
      }
    }
  }
  if (headers.length > maxHeaders) problems['headers'] ??= `more than ${maxHeaders} headers`;
  return headers;
}

function refusal(name: string): string | null {
  if (!isToken(name)) return `'${shown(name)}' is not the name of a header`;
  return computed.has(name.toLowerCase()) ? `the gateway sets the header ${name} itself` : null;
}

function readBody(value: Readonly<Record<string, unknown>>, problems: Problems): Uint8Array | null {
  const { body: text = null, body_base64: encoded = null } = value;
  if (text !== null && encoded !== null) problems['body'] = 'body and body_base64 exclude each other';
  const [field, given] = encoded === null ? ['body', text] : ['body_base64', encoded];
  if (given === null) return null;
  if (typeof given !== 'string') {
    problems[field as string] = 'expected a string';
    return null;
  }
  if (encoded !== null && !/^[A-Za-z0-9+/]*={0,2}$/.test(given)) problems['body_base64'] = 'not valid base64';
  const body = Buffer.from(given, encoded === null ? 'utf8' : 'base64');
  if (body.byteLength > maxBody) problems[field as string] = `the body has more than ${maxBody} bytes`;
  return body;
}

function headSize(method: string, path: string, headers: readonly (readonly [string, string])[]): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, method.length + path.length + 12);
}

/** Of a text that may be anything. */
function shown(name: string): string {
  return name.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
}
