import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { fieldLines, methodName, requestTarget } from '../http1/grammar.ts';
import { readFields } from '../http1/parse-request.ts';
import { ParsedRequest } from '../http1/parsed-request.ts';
import { encodeRawBytes, readTarget } from '../http1/request-target.ts';
import { upgradeToWebSocket } from './websocket.ts';

/** Limits of a head; bytes and fields. */
export interface StreamHeadLimits {
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
}

/** The pseudo-header fields (RFC 9113 8.3.1, RFC 8441 4); null where one is absent. */
class Pseudo {
  method: string | null = null;
  scheme: string | null = null;
  authority: string | null = null;
  path: string | null = null;
  protocol: string | null = null;
}

/**
 * The head of a request from the fields of a HEADERS frame: alternating names and values. The fields are written as the
 * lines of an HTTP/1.1 head and pass through the same grammar and the same parser, so that both engines accept and
 * reject the same. Returns the error to answer with when the request is malformed (RFC 9113 8.1.1). `endStream`: there
 * is no body.
 */
export function parseStreamHead(
  fields: readonly string[],
  endStream: boolean,
  limits: StreamHeadLimits,
): ParsedRequest | ErrorEntry {
  const pseudo = new Pseudo();
  const start = readPseudo(fields, pseudo);
  if (start < 0) return errors.badRequest;
  const { method, scheme, path, protocol } = pseudo;
  if (method === null || !methodName.test(method)) return errors.badRequest;
  // The gateway is not a forward proxy. Only a WebSocket is opened by CONNECT, with its protocol named.
  if (method === 'CONNECT' && protocol === null) return errors.methodNotAllowed;
  if (path === null || !requestTarget.test(path)) return errors.badRequest;
  if (scheme !== 'http' && scheme !== 'https') return errors.badRequest;
  if (protocol !== null && method !== 'CONNECT') return errors.badRequest;

  const lines = writeLines(fields, start, pseudo.authority);
  if (lines === null) return errors.badRequest;
  if (path.length > limits.maxHeadSize) return errors.uriTooLong;
  if (lines.text.length + path.length > limits.maxHeadSize) return errors.headTooLarge;
  fieldLines.lastIndex = 0;
  if (!fieldLines.test(lines.text) || fieldLines.lastIndex !== lines.text.length) return errors.badRequest;

  const head = new ParsedRequest();
  head.httpVersion = '2';
  head.bodyLength = endStream ? 0 : -1;
  head.method = method === 'CONNECT' ? 'GET' : method;
  const refused = readFields(head, lines.text, 0, limits.maxHeaderCount) ?? readTarget(head, encodeRawBytes(path));
  if (refused !== null) return refused;
  // A line end within a value would have made one field two.
  if (head.lines !== lines.count) return errors.badRequest;
  if (protocol === null) return head;
  return upgradeToWebSocket(head, protocol, endStream) ?? head;
}

/** Returns the index of the first regular field, or -1: a pseudo-header field is unknown or repeated. */
function readPseudo(fields: readonly string[], pseudo: Pseudo): number {
  let at = 0;
  for (; at < fields.length; at += 2) {
    const name = fields[at] as string;
    if (name.charCodeAt(0) !== 58) break;
    const value = fields[at + 1] as string;
    if (name === ':method' && pseudo.method === null) pseudo.method = value;
    else if (name === ':path' && pseudo.path === null) pseudo.path = value;
    else if (name === ':authority' && pseudo.authority === null) pseudo.authority = value;
    else if (name === ':scheme' && pseudo.scheme === null) pseudo.scheme = value;
    else if (name === ':protocol' && pseudo.protocol === null) pseudo.protocol = value;
    else return -1;
  }
  return at;
}

interface Lines {
  readonly text: string;
  readonly count: number;
}

/**
 * The fields as lines, `:authority` first as `host`. The parts of a split cookie become one line again (RFC 9113
 * 8.2.3). Null when `host` contradicts `:authority` (RFC 9113 8.3.1), or when a pseudo-header field follows a regular
 * one.
 */
function writeLines(fields: readonly string[], start: number, authority: string | null): Lines | null {
  let text = authority === null ? '' : `host: ${authority}\r\n`;
  let count = authority === null ? 0 : 1;
  let cookies: string | null = null;
  for (let at = start; at < fields.length; at += 2) {
    const name = fields[at] as string;
    const value = fields[at + 1] as string;
    if (name === 'cookie') {
      if (cookies === null) count++;
      cookies = cookies === null ? value : `${cookies}; ${value}`;
      continue;
    }
    if (name === 'host' && authority !== null) {
      if (value.toLowerCase() !== authority.toLowerCase()) return null;
      continue;
    }
    // The grammar of header lines checks the rest of a name.
    if (name.includes(':')) return null;
    text += `${name}: ${value}\r\n`;
    count++;
  }
  if (cookies !== null) text += `cookie: ${cookies}\r\n`;
  return { text: `${text}\r\n`, count };
}

/** What the access log shows as the request line of a malformed request, in the form of HTTP/1.1; ended by CRLF. */
export function streamRequestLine(fields: readonly string[]): string {
  const line = `${fieldValue(fields, ':method')} ${fieldValue(fields, ':path')} HTTP/2`;
  return `${line.replace(/[\x00-\x1f\x7f]/g, ' ')}\r\n`;
}

function fieldValue(fields: readonly string[], name: string): string {
  const at = fields.indexOf(name);
  return at < 0 ? '-' : (fields[at + 1] as string);
}
