import { trimBlanks } from '../http1/field-names.ts';
import { type ParsedResponse, parseResponseHead } from '../http1/parse-response.ts';
import { writeFieldLines } from './field-lines.ts';

/**
 * Connection-specific fields, which HTTP/2 does not allow (RFC 9113 8.2.2), and those that have a pseudo-header field.
 */
const dropped: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'host',
  'te',
]);

/**
 * An HTTP/1.1 request head as the fields of a HEADERS frame. The target becomes the path; `Host` becomes `:authority`.
 * A gRPC backend requires a statement that trailers are accepted (`te: trailers`).
 */
export function requestFields(head: string, scheme: 'http' | 'https'): string[] {
  const line = head.indexOf('\r\n');
  const first = head.indexOf(' ');
  const last = head.lastIndexOf(' ', line);
  const fields = [
    ...[':method', head.slice(0, first)],
    ...[':scheme', scheme],
    ...[':authority', ''],
    ...[':path', head.slice(first + 1, last)],
  ];
  const stop = head.length - 2;
  for (let at = line + 2; at < stop; ) {
    const colon = head.indexOf(':', at);
    const end = head.indexOf('\r', colon);
    const name = head.slice(at, colon).toLowerCase();
    if (!dropped.has(name)) fields.push(name, trimBlanks(head.slice(colon + 1, end)));
    else if (name === 'host') fields[5] = trimBlanks(head.slice(colon + 1, end));
    at = end + 2;
  }
  fields.push('te', 'trailers');
  return fields;
}

/**
 * The head of a response from the fields of a HEADERS frame, by the same rules as for HTTP/1.1. Null when it is
 * malformed. The body ends with the stream, so its length is unknown, whatever is declared; Node's HTTP/2 compares the
 * two.
 */
export function responseOf(fields: readonly string[], maxHeaderCount: number): ParsedResponse | null {
  const status = fields[1];
  if (fields[0] !== ':status' || status === undefined || status === '101') return null;
  const lines = writeFieldLines(fields, 2);
  if (lines === null) return null;
  const head = parseResponseHead(`HTTP/1.1 ${status} \r\n${lines}\r\n`, maxHeaderCount);
  if (head === null || head.bodyLength === -1 || head.upgrade !== '') return null;
  head.httpVersion = '2';
  head.bodyLength = -1;
  return head;
}
