import { type ErrorEntry, errors } from '../../shared/errors.ts';
import type { HeaderField, HeaderList } from '../../shared/http2/hpack/header-list.ts';
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

/** The head breaks HTTP/2 itself (RFC 9113 8.1.1): no answer, the stream is reset with PROTOCOL_ERROR. */
export const malformed = Symbol('malformed');

/** The pseudo-header fields of the head that is being read (RFC 9113 8.3.1, RFC 8441 4); null where one is absent. */
let method: string | null = null;
let scheme: string | null = null;
let authority: string | null = null;
let path: string | null = null;
let protocol: string | null = null;

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
  const start = readPseudo(list.fields);
  if (start < 0 || method === null) return malformed;
  if (!methodName.test(method)) return errors.badRequest;
  // The gateway is not a forward proxy. Only a WebSocket is opened by CONNECT, with its protocol named.
  if (method === 'CONNECT' && protocol === null) return errors.methodNotAllowed;
  if (path === null || path === '' || scheme === null || (protocol !== null && method !== 'CONNECT')) return malformed;
  if (!requestTarget.test(path) || (scheme !== 'http' && scheme !== 'https')) return errors.badRequest;

  const lines = writeLines(list.fields, start);
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

/** Returns the index of the first regular field, or -1: a pseudo-header field is unknown or repeated. */
function readPseudo(fields: readonly HeaderField[]): number {
  method = null;
  scheme = null;
  authority = null;
  path = null;
  protocol = null;
  let at = 0;
  for (; at < fields.length; at++) {
    const field = fields[at] as HeaderField;
    if (!field.pseudo) break;
    const { name, value } = field;
    if (name === ':method' && method === null) method = value;
    else if (name === ':path' && path === null) path = value;
    else if (name === ':authority' && authority === null) authority = value;
    else if (name === ':scheme' && scheme === null) scheme = value;
    else if (name === ':protocol' && protocol === null) protocol = value;
    else return -1;
  }
  return at;
}

/**
 * The fields as lines with an empty one at the end, `:authority` first as `host`. The parts of a split cookie become one
 * line again (RFC 9113 8.2.3). `host` must not contradict `:authority` (RFC 9113 8.3.1).
 */
function writeLines(fields: readonly HeaderField[], start: number): string | ErrorEntry | typeof malformed {
  let text = authority === null ? '' : `host: ${authority}\r\n`;
  let cookies: string | null = null;
  for (let at = start; at < fields.length; at++) {
    const field = fields[at] as HeaderField;
    const { name, value } = field;
    switch (name.charCodeAt(0)) {
      case colon:
        return malformed;
      case letterC:
        if (name === 'connection') return malformed;
        if (name === 'cookie') {
          cookies = cookies === null ? value : `${cookies}; ${value}`;
          continue;
        }
        break;
      case letterH:
        if (name === 'host' && authority !== null) {
          if (value.toLowerCase() !== authority.toLowerCase()) return errors.badRequest;
          continue;
        }
        break;
      case letterK:
        if (name === 'keep-alive') return malformed;
        break;
      case letterP:
        if (name === 'proxy-connection') return malformed;
        break;
      case letterT:
        if (name === 'transfer-encoding' || (name === 'te' && value.toLowerCase() !== 'trailers')) return malformed;
        break;
      case letterU:
        if (name === 'upgrade') return malformed;
        break;
    }
    text += field.line;
  }
  if (cookies !== null) text += `cookie: ${cookies}\r\n`;
  return `${text}\r\n`;
}

const colon = 0x3a;
const letterC = 0x63;
const letterH = 0x68;
const letterK = 0x6b;
const letterP = 0x70;
const letterT = 0x74;
const letterU = 0x75;

/** What the access log shows as the request line of a refused request, in the form of HTTP/1.1; ended by CRLF. */
export function streamRequestLine({ fields }: HeaderList): string {
  const line = `${fieldValue(fields, ':method')} ${fieldValue(fields, ':path')} HTTP/2`;
  return `${line.replace(/[\x00-\x1f\x7f]/g, ' ')}\r\n`;
}

function fieldValue(fields: readonly HeaderField[], name: string): string {
  return fields.find((field) => field.name === name)?.value ?? '-';
}
