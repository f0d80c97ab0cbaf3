import { withoutFields } from '../../shared/http/header-block.ts';
import { reasonPhrases } from '../../shared/http/reason-phrases.ts';
import { connectionOptions } from './connection-options.ts';
import { FieldNames, joinList, valueIn } from './field-names.ts';
import { chunkedValue, fieldLines, parseLength, statusLine } from './grammar.ts';

const dropped = 8;
const names = new FieldNames({
  'content-length': 1,
  'transfer-encoding': 2,
  connection: 3,
  upgrade: 4,
  trailer: 5,
  via: 6,
  server: 7,
  // Dropped: hop-by-hop, or set by the gateway itself.
  'keep-alive': dropped,
  'proxy-connection': dropped,
  te: dropped,
  'x-kong-request-id': dropped,
  'x-kong-upstream-latency': dropped,
  'x-kong-proxy-latency': dropped,
  'x-kong-response-latency': dropped,
  'x-kong-upstream-status': dropped,
});

/** A backend's response head. */
export class ParsedResponse {
  status = 0;
  reason = '';
  minorVersion = 1;
  /** The protocol version for `Via`. */
  httpVersion: '1.1' | '2' = '1.1';
  /** Lines that go to the client unchanged: without framing, hop-by-hop fields, `Via`, `Server` and `Trailer`. */
  block = '';
  /** Declared length, -1 when chunked, -2 when the body ends with the connection. */
  bodyLength = -2;
  /** The backend keeps the connection. */
  keepAlive = true;
  upgrade = '';
  /** `Connection` names `Upgrade`. */
  switchesProtocol = false;
  trailer = '';
  via = '';
  server = '';
  /** `Content-Length` was given; meaningful for HEAD and 304, which have no body. */
  declaredLength = -1;
}

/**
 * Parses a response head from its status line through the empty line. Null when two parsers could
 * read it differently: the client receives 502 and the connection is closed (RFC 9112 6.3).
 */
export function parseResponseHead(text: string, maxHeaderCount = 1000): ParsedResponse | null {
  const head = new ParsedResponse();
  let start = 0;
  const usual = usualStatus(text);
  if (usual !== undefined) {
    start = usual.line.length;
    head.status = usual.status;
    head.reason = usual.reason;
  } else {
    statusLine.lastIndex = 0;
    const line = statusLine.exec(text);
    if (line === null) return null;
    start = statusLine.lastIndex;
    head.status = Number(line[2]);
    head.reason = line[3] ?? '';
    if (line[1] === '0') {
      head.minorVersion = 0;
      head.keepAlive = false;
    }
  }
  fieldLines.lastIndex = start;
  if (!fieldLines.test(text) || fieldLines.lastIndex !== text.length) return null;
  return readResponseFields(head, text, start, maxHeaderCount) ? head : null;
}

interface UsualStatus {
  readonly status: number;
  readonly reason: string;
  /** The whole line. */
  readonly line: string;
}

const usualStatuses: readonly (UsualStatus | undefined)[] = Array.from({ length: 600 }, (_, status) => {
  const reason = reasonPhrases[status];
  return reason === undefined ? undefined : { status, reason, line: `HTTP/1.1 ${status} ${reason}\r\n` };
});

/** What a head begins with that has the usual reason for its status; undefined for any other. */
function usualStatus(text: string): UsualStatus | undefined {
  const status = (text.charCodeAt(9) - 48) * 100 + (text.charCodeAt(10) - 48) * 10 + text.charCodeAt(11) - 48;
  const usual = status > 0 && status < 600 ? usualStatuses[status] : undefined;
  return usual !== undefined && text.startsWith(usual.line) ? usual : undefined;
}

/** Reads the field lines from `start` through the empty line at the end; they have passed the grammar. False: invalid. */
export function readResponseFields(head: ParsedResponse, text: string, start: number, maxHeaderCount: number): boolean {
  const stop = text.length - 2;
  let chunked = false;
  let connection = '';
  let kept = '';
  let runStart = start;
  let count = 0;
  for (let at = start; at < stop; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r', colon);
    let code = names.code(text, at, colon);
    if (code < 0) code = code === -dropped ? dropped : 0;
    if (code !== 0) {
      if (runStart < at) kept += text.slice(runStart, at);
      runStart = end + 2;
      switch (code) {
        case 1: {
          if (head.declaredLength >= 0) return false;
          head.declaredLength = parseLength(text, colon + 1, end);
          if (head.declaredLength < 0) return false;
          break;
        }
        case 2:
          if (chunked || !chunkedValue.test(text.slice(colon + 1, end))) return false;
          chunked = true;
          break;
        case 3:
          connection = joinList(connection, text, colon + 1, end);
          break;
        case 4:
          head.upgrade = joinList(head.upgrade, text, colon + 1, end);
          break;
        case 5:
          head.trailer = joinList(head.trailer, text, colon + 1, end);
          break;
        case 6:
          head.via = joinList(head.via, text, colon + 1, end);
          break;
        case 7:
          head.server = valueIn(text, colon + 1, end);
          break;
      }
    }
    if (++count > maxHeaderCount) return false;
    at = end + 2;
  }
  head.block =
    runStart === start ? text.slice(start, stop) : runStart < stop ? kept + text.slice(runStart, stop) : kept;
  if (chunked) {
    if (head.declaredLength >= 0 || head.minorVersion === 0) return false;
    head.bodyLength = -1;
  } else if (head.declaredLength >= 0) head.bodyLength = head.declaredLength;
  if (connection !== '') readConnection(head, connection);
  return true;
}

function readConnection(head: ParsedResponse, connection: string): void {
  const { keepAlive, upgrade, fields } = connectionOptions(connection);
  if (keepAlive !== null) head.keepAlive = keepAlive;
  head.switchesProtocol = upgrade;
  if (fields !== null) head.block = withoutFields(head.block, fields);
}

/** These bytes can begin a response head. Others are refused at once, before a timeout. */
export function beginsResponse(text: string): boolean {
  if (text.length <= 9) return 'HTTP/1.1 '.startsWith(text) || 'HTTP/1.0 '.startsWith(text);
  return (text.startsWith('HTTP/1.1 ') || text.startsWith('HTTP/1.0 ')) && !forbidden.test(text);
}

const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|[^\r]\n|\r(?=[^\n])/;
