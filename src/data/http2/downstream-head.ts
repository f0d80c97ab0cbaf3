import { type ErrorEntry, errors } from '../../shared/errors.ts';
import type { HeaderField, HeaderList } from '../../shared/http2/hpack/header-list.ts';
import { malformed, pseudoFields, readPseudoFields, regularLines } from '../../shared/http2/request-fields.ts';
import { methodName, requestTarget } from '../http1/grammar.ts';
import { readFields } from '../http1/parse-request.ts';
import { ParsedRequest } from '../http1/parsed-request.ts';
import { encodeRawBytes, readTarget } from '../http1/request-target.ts';
import { upgradeToWebSocket } from './websocket.ts';

/** Limits of a head; bytes and fields. */
export interface StreamHeadLimits {
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
}

/**
 * The head of a request from its fields. They are written as the lines of an HTTP/1.1 head, which the same parser reads, so
 * that both engines accept and reject the same. Returns the error to answer with when the request is not valid.
 * `endStream`: there is no body.
 */
export function parseStreamHead(
  list: HeaderList,
  endStream: boolean,
  limits: StreamHeadLimits,
): ParsedRequest | ErrorEntry | typeof malformed {
  if (list.exceeded) return errors.headTooLarge;
  if (!list.valid) return malformed;
  const start = readPseudoFields(list.fields);
  const { method, scheme, path, protocol } = pseudoFields;
  if (start < 0 || method === null) return malformed;
  if (!methodName.test(method)) return errors.badRequest;
  // The gateway is not a forward proxy. Only a WebSocket is opened by CONNECT, with its protocol named.
  if (method === 'CONNECT' && protocol === null) return errors.methodNotAllowed;
  if (path === null || path === '' || scheme === null || (protocol !== null && method !== 'CONNECT')) return malformed;
  if (!requestTarget.test(path) || (scheme !== 'http' && scheme !== 'https')) return errors.badRequest;

  const lines = regularLines(list.fields, start);
  if (typeof lines !== 'string') return lines;
  if (path.length > limits.maxHeadSize) return errors.uriTooLong;
  if (lines.length + path.length > limits.maxHeadSize) return errors.headTooLarge;

  const head = new ParsedRequest();
  head.httpVersion = '2';
  head.bodyLength = endStream ? 0 : -1;
  head.method = method === 'CONNECT' ? 'GET' : method;
  const refused = readFields(head, lines, 0, limits.maxHeaderCount) ?? readTarget(head, encodeRawBytes(path));
  if (refused !== null) return refused;
  if (protocol === null) return head;
  return upgradeToWebSocket(head, protocol, endStream) ?? head;
}

/** What the access log shows as the request line of a refused request, in the form of HTTP/1.1; ended by CRLF. */
export function streamRequestLine({ fields }: HeaderList): string {
  const line = `${fieldValue(fields, ':method')} ${fieldValue(fields, ':path')} HTTP/2`;
  return `${line.replace(/[\x00-\x1f\x7f]/g, ' ')}\r\n`;
}

function fieldValue(fields: readonly HeaderField[], name: string): string {
  return fields.find((field) => field.name === name)?.value ?? '-';
}
