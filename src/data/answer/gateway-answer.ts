import type { Reply } from '../../plugin-sdk/reply.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { headerValue, withoutFields } from '../../shared/http/header-block.ts';
import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';
import { runHeaderFilter } from '../plugin-runner/phases.ts';
import type { Downstream, Exchange } from '../request/exchange.ts';
import { grpcCode, grpcLines, hasGrpcType, isGrpc } from '../request/grpc.ts';
import type { ProxyOptions } from '../request/options.ts';
import { errorBody } from './error-body.ts';
import { isFraming } from './header-edits.ts';
import { gatewayBlock, viaLine } from './response-head.ts';
import { sendWhole } from './whole-body.ts';

/** Answers with an error of the table, in the format that the client accepts. `extra`: further header lines. */
export function answerError(x: Exchange, error: ErrorEntry, options: ProxyOptions, extra = ''): void {
  x.error = error;
  const more = error === errors.overloaded ? `Retry-After: 1\r\n${extra}` : extra;
  if (isGrpc(x.head)) {
    answer(x, error.status, `${gatewayBlock(options)}${grpcEnd(error.status, null)}${more}`, null);
    return;
  }
  const accept = headerValue(x.head.block, 'accept');
  const fallback = error.format === 'wire' ? wireType(x, options) : 'application/json';
  const { contentType, body } =
    error.format === 'plain'
      ? errorBody(error.message, x.id, null, 'text/plain')
      : errorBody(error.message, x.id, accept, fallback);
  const proxied = x.upstreamStartedMono > 0 && error.format === 'wire';
  const via = proxied && options.viaHeader ? viaLine : '';
  answer(x, error.status, `${gatewayBlock(options)}${via}Content-Type: ${contentType}\r\n${more}`, Buffer.from(body));
}

/** Answers with a plugin's reply. */
export function answerReply(x: Exchange, reply: Reply, options: ProxyOptions): void {
  // A client would read an informational status as interim, and the body as the final answer.
  if (!(reply.status >= 200 && reply.status <= 599)) {
    answerError(x, errors.unexpected, options);
    return;
  }
  const block = gatewayBlock(options) + replyLines(reply);
  if (isGrpc(x.head) && !hasGrpcType(block)) {
    answer(x, reply.status, withoutFields(block, bodyFields) + grpcEnd(reply.status, messageOf(reply)), null);
    return;
  }
  if (reply.message !== null) {
    const accept = headerValue(x.head.block, 'accept');
    const fallback = reply.format === 'wire' ? wireType(x, options) : 'application/json';
    const { contentType, body } = errorBody(reply.message, x.id, accept, fallback);
    answer(x, reply.status, `${block}Content-Type: ${contentType}\r\n`, Buffer.from(body));
  } else answer(x, reply.status, block, replyBytes(reply));
}

function wireType(x: Exchange, options: ProxyOptions): string {
  return headerValue(x.head.block, 'content-type') ?? options.errorDefaultType;
}

/** The headers of a reply as lines, without invalid names and without the fields that frame the message. */
export function replyLines({ headers }: Reply): string {
  let lines = '';
  for (const [name, value] of headers) {
    if (!invalidName.test(name) && !isFraming(name)) lines += `${name}: ${headerText(value)}\r\n`;
  }
  return lines;
}

/** The body of a reply as bytes; null: no body. */
export function replyBytes({ body }: Reply): Uint8Array | null {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** Type and result of a call that the gateway ends. */
function grpcEnd(status: number, message: string | null): string {
  return `Content-Type: application/grpc\r\n${grpcLines(grpcCode(status), message)}`;
}

const bodyFields: ReadonlySet<string> = new Set(['content-type', 'content-length', 'grpc-status', 'grpc-message']);

/** The `message` in a plugin's own JSON; null for Kong's template: gRPC clients see only its code. */
function messageOf({ message, body }: Reply): string | null {
  if (message !== null || body === null) return null;
  try {
    const value: unknown = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString());
    const text = (value as { readonly message?: unknown } | null)?.message;
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}

/** Ends the exchange with an answer of the gateway; header filters of the plan run over it. */
export function answer(x: Exchange, status: number, block: string, body: Uint8Array | null): void {
  x.status = status;
  x.reason = '';
  x.responseSource = 'gateway';
  x.responseBlock = block;
  x.responseEdits = null;
  x.responseLength = body?.byteLength ?? 0;
  if (x.plan.headerFilter.length > 0) runHeaderFilter(x);
  if (body === null || body.byteLength === 0) {
    x.downstream.sendHead(x, 0);
    x.downstream.sendEnd(x, '');
    return;
  }
  // Filters would change the body that a GET gets, and its length with it.
  const bodilessLength = x.plan.bodyFilter.length > 0 ? -1 : body.byteLength;
  sendWhole(x, body, { bodilessLength, end: () => x.downstream.sendEnd(x, '') });
}

const timeoutNames: ReadonlyMap<ErrorEntry, string> = new Map([
  [errors.connectTimeout, 'connect'],
  [errors.sendTimeout, 'send'],
  [errors.firstByteTimeout, 'first-byte'],
  [errors.idleTimeout, 'idle'],
  [errors.totalTimeout, 'total'],
]);

/** Names the timeout that expired, because Kong's text is the same for all; '' for other errors. */
export function timeoutLine(error: ErrorEntry): string {
  const name = timeoutNames.get(error);
  return name === undefined ? '' : `X-Upstream-Timeout: ${name}\r\n`;
}

export interface Explanation {
  /** The client's own side of the exchange. */
  readonly client: Downstream;
  /** The method of the request before the explanation changed it. */
  readonly method: string;
  /** Further header lines. */
  readonly lines: string;
  readonly body: Buffer;
}

/** An explanation is valid at one moment, for one client. */
const explanationLines =
  'Content-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n';

/** Sends an explanation instead of the answer. The exchange keeps the answer's fields, because logs show the explained request. */
export function answerExplanation(
  x: Exchange,
  { client, method, lines, body }: Explanation,
  options: ProxyOptions,
): void {
  const { status, reason, responseBlock, responseEdits } = x;
  const explained = x.head.method;
  x.downstream = client;
  x.head.method = method;
  // In a CONNECT that opens a WebSocket, any 2xx would mean that the tunnel is open (RFC 8441 5).
  x.status = x.head.httpVersion !== '2' || x.head.upgrade === '' ? 200 : 501;
  x.reason = '';
  x.responseEdits = null;
  x.responseBlock = gatewayBlock(options) + explanationLines + lines;
  client.sendHead(x, body.byteLength);
  x.head.method = explained;
  if (status > 0) {
    x.status = status;
    x.reason = reason;
    x.responseBlock = responseBlock;
    x.responseEdits = responseEdits;
  }
  client.sendBody(x, body, 0, body.byteLength);
  client.sendEnd(x, '');
}

/** The answer to a request that could not be parsed. */
export interface Refusal {
  readonly status: number;
  /** Header lines without framing. */
  readonly block: string;
  readonly body: string;
}

/** `Allow` of a 405 (RFC 9110 15.5.6). The gateway forwards every method except CONNECT and TRACE. */
const allowLine = 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n';

export function gatewayRefusal(error: ErrorEntry, requestId: string, options: ProxyOptions): Refusal {
  const { contentType, body } = errorBody(error.message, requestId, null, options.errorDefaultType);
  const allow = error === errors.methodNotAllowed ? allowLine : '';
  const lines = `${allow}Content-Type: ${contentType}\r\nX-Kong-Request-Id: ${requestId}\r\n`;
  return { status: error.status, block: gatewayBlock(options) + lines, body };
}

const invalidName = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]|^$/;

/** A header value as bytes in a latin1 string; control characters, which could end the line, become spaces. */
function headerText(value: string): string {
  return utf8AsLatin1(value.replace(/[\x00-\x08\x0a-\x1f\x7f]/g, ' '));
}
