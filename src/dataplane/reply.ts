import { type ErrorEntry, errors } from '../errors.ts';
import { headerValue, withoutFields } from '../http1/header-block.ts';
import { runHeaderFilter } from '../plugin-runner/phases.ts';
import type { Reply } from '../plugin-sdk/reply.ts';
import { utf8AsLatin1 } from '../util/latin1.ts';
import { isFraming } from './editable-headers.ts';
import { errorBody } from './error-body.ts';
import type { Exchange } from './exchange.ts';
import { grpcCode, grpcLines, hasGrpcType, isGrpc } from './grpc.ts';
import type { ProxyOptions } from './options.ts';
import { gatewayBlock, viaLine } from './response-head.ts';
import { sendWhole } from './whole-body.ts';

/** Answers with an error of the table, in the format that the client accepts. `extra`: further header lines. */
export function replyError(x: Exchange, error: ErrorEntry, options: ProxyOptions, extra = ''): void {
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
  const asked = x.upstreamStartedMono > 0 && error.format === 'wire';
  const via = asked && options.viaHeader ? viaLine : '';
  answer(x, error.status, `${gatewayBlock(options)}${via}Content-Type: ${contentType}\r\n${more}`, Buffer.from(body));
}

/** Answers with what a plugin returned. */
export function replyWith(x: Exchange, reply: Reply, options: ProxyOptions): void {
  // The client would take an informational status for the announcement of an answer, and the body for the answer.
  if (!(reply.status >= 200 && reply.status <= 599)) {
    replyError(x, errors.unexpected, options);
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

/** The headers of a reply as lines, without invalid ones and those that frame the message. */
export function replyLines({ headers }: Reply): string {
  let lines = '';
  for (const [name, value] of headers) {
    if (!invalidName.test(name) && !isFraming(name)) lines += `${name}: ${headerText(value)}\r\n`;
  }
  return lines;
}

/** The body of a reply as bytes; null: it has none. */
export function replyBytes({ body }: Reply): Uint8Array | null {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** Type and result of a call that the gateway ends. */
function grpcEnd(status: number, message: string | null): string {
  return `Content-Type: application/grpc\r\n${grpcLines(grpcCode(status), message)}`;
}

const bodyFields: ReadonlySet<string> = new Set(['content-type', 'content-length', 'grpc-status', 'grpc-message']);

/** What a plugin's own JSON says; null for Kong's template, of which gRPC clients see the code only. */
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

const invalidName = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]|^$/;

/** A header value as bytes in a latin1 string, without what could end the line. */
function headerText(value: string): string {
  return utf8AsLatin1(value.replace(/[\x00-\x08\x0a-\x1f\x7f]/g, ' '));
}
