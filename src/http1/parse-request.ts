import { type ErrorEntry, errors } from '../errors.ts';
import { connectionOptions, dropFields } from './connection-options.ts';
import { type DebugFields, debugFieldNames, takeDebugFields } from './debug-fields.ts';
import { FieldNames, trimBlanks } from './field-names.ts';
import { chunkedValue, fieldLines, hostValue, parseLength, rawRequestLine, requestLine } from './grammar.ts';
import type { RequestHead } from './request-head.ts';
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

/** A request head with everything that forwarding needs, found in one walk over its lines. */
export class ParsedRequest implements RequestHead {
  method = '';
  target = '';
  rawPath = '';
  query = '';
  hasQuery = false;
  host = '';
  httpVersion: '1.0' | '1.1' | '2' = '1.1';
  block = '';
  /** Lines of the block. */
  lines = 0;
  bodyLength = 0;
  /** The client wants the connection kept. */
  keepAlive = true;
  expectContinue = false;
  /** `websocket` for a valid opening handshake; other upgrades are not supported. */
  upgrade: '' | 'websocket' = '';
  /** Its `Sec-WebSocket-Key`. */
  webSocketKey = '';
  /** The client takes trailers (`TE: trailers`). */
  trailers = false;
  /** Lines that go to the backend as they are. */
  forwardBlock = '';
  /** Lines that do not, because `Connection` names them. */
  hopByHop = '';
  /** Lists of repeated lines are joined: they are one list (RFC 9110 5.3). '' when absent. */
  via = '';
  forwardedFor = '';
  forwardedProto = '';
  forwardedHost = '';
  forwardedPort = '';
  forwardedPath = '';
  forwardedPrefix = '';
  realIp = '';
  /** `Forwarded` (RFC 7239). */
  forwarded = '';
  /** Fields that ask for an explanation. They carry a secret, so that nothing behind the parser sees them as header lines. */
  debug: DebugFields | null = null;

  /** A copy to be changed. Field by field: `Object.assign` takes eight times as long. */
  copy(): ParsedRequest {
    const head = new ParsedRequest();
    head.method = this.method;
    head.target = this.target;
    head.rawPath = this.rawPath;
    head.query = this.query;
    head.hasQuery = this.hasQuery;
    head.host = this.host;
    head.httpVersion = this.httpVersion;
    head.block = this.block;
    head.lines = this.lines;
    head.bodyLength = this.bodyLength;
    head.keepAlive = this.keepAlive;
    head.expectContinue = this.expectContinue;
    head.upgrade = this.upgrade;
    head.webSocketKey = this.webSocketKey;
    head.trailers = this.trailers;
    head.forwardBlock = this.forwardBlock;
    head.hopByHop = this.hopByHop;
    head.via = this.via;
    head.forwardedFor = this.forwardedFor;
    head.forwardedProto = this.forwardedProto;
    head.forwardedHost = this.forwardedHost;
    head.forwardedPort = this.forwardedPort;
    head.forwardedPath = this.forwardedPath;
    head.forwardedPrefix = this.forwardedPrefix;
    head.realIp = this.realIp;
    head.forwarded = this.forwarded;
    head.debug = this.debug;
    return head;
  }
}

/**
 * Parses a head from its request line through the empty line that ends it. What two parsers could read differently is
 * refused: the error to answer with is returned, and the connection must be closed (RFC 9112 6.3, 11.2).
 */
export function parseRequestHead(text: string, maxHeaderCount = 1000): ParsedRequest | ErrorEntry {
  requestLine.lastIndex = 0;
  let line = requestLine.exec(text);
  let start = requestLine.lastIndex;
  let target = line?.[2] ?? '';
  if (line === null) {
    rawRequestLine.lastIndex = 0;
    line = rawRequestLine.exec(text);
    if (line === null) return errors.badRequest;
    start = rawRequestLine.lastIndex;
    target = encodeRawBytes(line[2] as string);
  }
  fieldLines.lastIndex = start;
  if (!fieldLines.test(text) || fieldLines.lastIndex !== text.length) return errors.badRequest;
  const head = new ParsedRequest();
  head.method = line[1] as string;
  if (line[3] === '0') {
    head.httpVersion = '1.0';
    head.keepAlive = false;
  }
  return readFields(head, text, start, maxHeaderCount) ?? readTarget(head, target) ?? head;
}

/**
 * Reads the field lines from `start` through the empty line at the end; they have passed the grammar. With HTTP/2 the
 * body's length stands in the head already: -1 unless the head ends the request, which a declared length makes exact.
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
          head.host = trimBlanks(text.slice(colon + 1, end));
          break;
        case 2: {
          if (length >= 0) return errors.badRequest;
          length = parseLength(text.slice(colon + 1, end));
          if (length < 0) return errors.badRequest;
          break;
        }
        case 3:
          if (chunked) return errors.badRequest;
          if (!chunkedValue.test(text.slice(colon + 1, end))) return errors.transferEncoding;
          chunked = true;
          break;
        case 4:
          connection = joinList(connection, text.slice(colon + 1, end));
          break;
        case 5:
          expect = joinList(expect, text.slice(colon + 1, end));
          break;
        case 6:
          upgrade = joinList(upgrade, text.slice(colon + 1, end));
          break;
        case 7:
          te = joinList(te, text.slice(colon + 1, end));
          break;
        case 8:
          head.via = joinList(head.via, text.slice(colon + 1, end));
          break;
        case 9:
          head.forwardedFor = joinList(head.forwardedFor, text.slice(colon + 1, end));
          break;
        case 10:
          head.forwardedProto = trimBlanks(text.slice(colon + 1, end));
          break;
        case 11:
          head.forwardedHost = trimBlanks(text.slice(colon + 1, end));
          break;
        case 12:
          head.forwardedPort = trimBlanks(text.slice(colon + 1, end));
          break;
        case 13:
          head.forwardedPath = trimBlanks(text.slice(colon + 1, end));
          break;
        case 14:
          head.forwardedPrefix = trimBlanks(text.slice(colon + 1, end));
          break;
        case 15:
          head.realIp = trimBlanks(text.slice(colon + 1, end));
          break;
        case 17:
          head.forwarded = joinList(head.forwarded, text.slice(colon + 1, end));
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
  if (debug) hideDebugFields(head);

  if (hosts > 1 || (hosts === 0 && head.httpVersion !== '1.0')) return errors.badRequest;
  if (hosts === 1 && head.host !== lastHost) {
    if (!hostValue.test(head.host)) return errors.badRequest;
    head.host = withoutEmptyPort(head.host);
    lastHost = head.host;
  }
  if (head.httpVersion === '2') {
    // Fields of one connection have no meaning in HTTP/2 and would get one behind us (RFC 9113 8.2.2).
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

function hideDebugFields(head: ParsedRequest): void {
  const { block, fields } = takeDebugFields(head.block);
  head.block = block;
  head.debug = fields;
}

function isTrailers(coding: string): boolean {
  return trimBlanks(coding) === 'trailers';
}

// A validated value, so that a run of requests to one host checks it once.
let lastHost: string | null = null;

function readConnection(head: ParsedRequest, connection: string, upgrade: string): void {
  const options = connectionOptions(connection);
  if (options.keepAlive !== null) head.keepAlive = options.keepAlive;
  if (options.upgrade && head.httpVersion === '1.1') {
    head.webSocketKey = webSocketKey(head, upgrade);
    head.upgrade = head.webSocketKey === '' ? '' : 'websocket';
  }
  if (options.fields !== null) dropFields(head, options.fields);
}

export function joinList(list: string, value: string): string {
  return list === '' ? trimBlanks(value) : `${list}, ${trimBlanks(value)}`;
}
