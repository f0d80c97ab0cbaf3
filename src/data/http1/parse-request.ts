import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { connectionOptions, dropFields } from './connection-options.ts';
import { debugFieldNames, takeDebugFields } from './debug-fields.ts';
import { FieldNames, joinList, trimBlanks, valueIn } from './field-names.ts';
import {
  chunkedValue,
  fieldLines,
  hostValue,
  parseLength,
  rawRequestLine,
  requestLine,
  usualRequestLine,
} from './grammar.ts';
import { ParsedRequest } from './parsed-request.ts';
import { encodeRawBytes, readTarget, withoutEmptyPort } from './request-target.ts';
import { webSocketKey } from './websocket-handshake.ts';

const fields = {
  host: 1,
  'content-length': 2,
  'transfer-encoding': 3,
  connection: 4,
  expect: 5,
  upgrade: 6,
  te: 7,
  via: 8,
  'x-forwarded-for': 9,
  'x-forwarded-proto': 10,
  'x-forwarded-host': 11,
  'x-forwarded-port': 12,
  'x-forwarded-path': 13,
  'x-forwarded-prefix': 14,
  'x-real-ip': 15,
  // Dropped: hop-by-hop (RFC 9110 7.6.1), `Proxy` (httpoxy), and names by which backends trust the gateway.
  'keep-alive': 16,
  'proxy-connection': 16,
  'http2-settings': 16,
  proxy: 16,
  'x-kong-request-id': 16,
  'x-consumer-id': 16,
  'x-consumer-username': 16,
  'x-consumer-custom-id': 16,
  'x-consumer-groups': 16,
  'x-credential-identifier': 16,
  'x-anonymous-consumer': 16,
  'x-authenticated-groups': 16,
  'x-authenticated-userid': 16,
  'x-authenticated-scope': 16,
  'x-userinfo': 16,
  forwarded: 17,
  ...Object.fromEntries(debugFieldNames.map((name) => [name, 18])),
};
const names = new FieldNames(fields);
const contentLength = fields['content-length'];
const transferEncoding = fields['transfer-encoding'];
/** From here on a name is replaced or dropped, so that its spelling with `_` is too. */
const firstUnobeyed = fields.via;
/** The last valid host: successive requests to one host check it once. */
let lastHost: string | null = null;

/**
 * Parses a head from its request line through the empty line that ends it. What two parsers could read differently is
 * refused: the error to answer with is returned, and the connection must be closed (RFC 9112 6.3, 11.2).
 */
export function parseRequestHead(text: string, maxHeaderCount = 1000): ParsedRequest | ErrorEntry {
  const head = new ParsedRequest();
  let start = 0;
  let target = '';
  const method = usualMethod(text);
  usualRequestLine.lastIndex = method.length + 1;
  if (method !== '' && usualRequestLine.test(text)) {
    start = usualRequestLine.lastIndex;
    head.method = method;
    target = text.slice(method.length + 1, start - usualLineEnd.length);
  } else {
    requestLine.lastIndex = 0;
    let line = requestLine.exec(text);
    start = requestLine.lastIndex;
    target = line?.[2] ?? '';
    if (line === null) {
      rawRequestLine.lastIndex = 0;
      line = rawRequestLine.exec(text);
      if (line === null) return errors.badRequest;
      start = rawRequestLine.lastIndex;
      target = encodeRawBytes(line[2] as string);
    }
    head.method = line[1] as string;
    if (line[3] === '0') {
      head.httpVersion = '1.0';
      head.keepAlive = false;
    }
  }
  fieldLines.lastIndex = start;
  if (!fieldLines.test(text) || fieldLines.lastIndex !== text.length) return errors.badRequest;
  return readFields(head, text, start, maxHeaderCount) ?? readTarget(head, target) ?? head;
}

const usualLineEnd = ' HTTP/1.1\r\n';

/** The method of a head that begins with one of the usual ones and a space; else ''. */
function usualMethod(text: string): string {
  switch (text.charCodeAt(0)) {
    case 71:
      return text.startsWith('GET ') ? 'GET' : '';
    case 80:
      return text.startsWith('POST ')
        ? 'POST'
        : text.startsWith('PUT ')
          ? 'PUT'
          : text.startsWith('PATCH ')
            ? 'PATCH'
            : '';
    case 68:
      return text.startsWith('DELETE ') ? 'DELETE' : '';
    case 72:
      return text.startsWith('HEAD ') ? 'HEAD' : '';
    case 79:
      return text.startsWith('OPTIONS ') ? 'OPTIONS' : '';
    default:
      return '';
  }
}

/**
 * Reads the field lines from `start` through the empty line at the end; they have passed the grammar. With HTTP/2 the
 * head already has the body's length: -1 unless the head ends the request, which a declared length makes exact.
 */
export function readFields(
  head: ParsedRequest,
  text: string,
  start: number,
  maxHeaderCount: number,
): ErrorEntry | null {
  const stop = text.length - 2;
  let hosts = 0;
  let length = -1;
  let chunked = false;
  let connection = '';
  let upgrade = '';
  let expect = '';
  let te = '';
  let debug = false;
  let forward = '';
  let runStart = start;
  let count = 0;
  for (let at = start; at < stop; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r', colon);
    let code = names.code(text, at, colon);
    if (code < 0) {
      if (code === -contentLength || code === -transferEncoding) return errors.badRequest;
      code = code <= -firstUnobeyed ? -code : 0;
    }
    if (code !== 0) {
      if (runStart < at) forward += text.slice(runStart, at);
      runStart = end + 2;
      switch (code) {
        case 1:
          hosts++;
          head.host = valueIn(text, colon + 1, end);
          break;
        case 2: {
          if (length >= 0) return errors.badRequest;
          length = parseLength(text, colon + 1, end);
          if (length < 0) return errors.badRequest;
          break;
        }
        case 3:
          if (chunked) return errors.badRequest;
          if (!chunkedValue.test(text.slice(colon + 1, end))) return errors.transferEncoding;
          chunked = true;
          break;
        case 4:
          connection = joinList(connection, text, colon + 1, end);
          break;
        case 5:
          expect = joinList(expect, text, colon + 1, end);
          break;
        case 6:
          upgrade = joinList(upgrade, text, colon + 1, end);
          break;
        case 7:
          te = joinList(te, text, colon + 1, end);
          break;
        case 8:
          head.via = joinList(head.via, text, colon + 1, end);
          break;
        case 9:
          head.forwardedFor = joinList(head.forwardedFor, text, colon + 1, end);
          break;
        case 10:
          head.forwardedProto = valueIn(text, colon + 1, end);
          break;
        case 11:
          head.forwardedHost = valueIn(text, colon + 1, end);
          break;
        case 12:
          head.forwardedPort = valueIn(text, colon + 1, end);
          break;
        case 13:
          head.forwardedPath = valueIn(text, colon + 1, end);
          break;
        case 14:
          head.forwardedPrefix = valueIn(text, colon + 1, end);
          break;
        case 15:
          head.realIp = valueIn(text, colon + 1, end);
          break;
        case 17:
          head.forwarded = joinList(head.forwarded, text, colon + 1, end);
          break;
        case 18:
          debug = true;
          break;
      }
    }
    if (++count > maxHeaderCount) return errors.headTooLarge;
    at = end + 2;
  }
  head.lines = count;
  head.block = text.slice(start, stop);
  head.forwardBlock =
    runStart === start ? head.block : runStart < stop ? forward + text.slice(runStart, stop) : forward;
  if (debug) ({ block: head.block, fields: head.debug } = takeDebugFields(head.block));

  if (hosts > 1 || (hosts === 0 && head.httpVersion !== '1.0')) return errors.badRequest;
  if (hosts === 1 && head.host !== lastHost) {
    if (!hostValue.test(head.host)) return errors.badRequest;
    head.host = withoutEmptyPort(head.host);
    lastHost = head.host;
  }
  if (head.httpVersion === '2') {
    // Fields of one connection have no meaning in HTTP/2, but would have one for the backend (RFC 9113 8.2.2).
    if (chunked || connection !== '' || upgrade !== '') return errors.badRequest;
    if (length >= 0) {
      if (length > 0 && head.bodyLength === 0) return errors.badRequest;
      head.bodyLength = length;
    }
  } else if (chunked) {
    if (length >= 0 || head.httpVersion === '1.0') return errors.badRequest;
    head.bodyLength = -1;
  } else if (length > 0) head.bodyLength = length;
  if (connection !== '') readConnection(head, connection, upgrade);
  if (te !== '') head.trailers = te.toLowerCase().split(',').some(isTrailers);
  if (expect !== '') {
    if (expect.toLowerCase() !== '100-continue') return errors.expectationFailed;
    head.expectContinue = head.bodyLength !== 0 && head.httpVersion !== '1.0';
  }
  return null;
}

function isTrailers(coding: string): boolean {
  return trimBlanks(coding) === 'trailers';
}

function readConnection(head: ParsedRequest, connection: string, upgrade: string): void {
  const options = connectionOptions(connection);
  if (options.keepAlive !== null) head.keepAlive = options.keepAlive;
  if (options.upgrade && head.httpVersion === '1.1') {
    head.webSocketKey = webSocketKey(head, upgrade);
    head.upgrade = head.webSocketKey === '' ? '' : 'websocket';
  }
  if (options.fields !== null) dropFields(head, options.fields);
}
