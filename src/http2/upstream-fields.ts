import { trimBlanks } from '../http1/field-names.ts';
import { type ParsedResponse, parseResponseHead } from '../http1/parse-response.ts';
import { writeFieldLines } from './field-lines.ts';

/** Fields of one connection, which HTTP/2 does not know (RFC 9113 8.2.2), and what has a pseudo-header field of its own. */
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
 * A request head as HTTP/1.1 has it, as the fields of a HEADERS frame. The target is what the path is; `Host` becomes
 * `:authority`. A backend of gRPC has to be told that its trailers are read (`te: trailers`).
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
 * The head of an answer from the fields of a HEADERS frame, by the same rules as one of HTTP/1.1. Null when it is malformed.
 * The body ends with the stream, so its length is not known, whatever is declared; the library under us compares the two.
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
