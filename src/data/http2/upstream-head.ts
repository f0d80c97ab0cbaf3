import type { HeaderList } from '../../shared/http2/hpack/header-list.ts';
import { ParsedResponse, readResponseFields } from '../http1/parse-response.ts';

const statusValue = /^[1-9][0-9]{2}$/;

/**
 * The head of a response from the fields of a HEADERS frame, by the same rules as for HTTP/1.1. Null when it is
 * malformed. The body ends with the stream, so `bodyLength` is unknown, whatever is declared.
 */
export function responseHead({ fields, valid, exceeded }: HeaderList, maxHeaderCount: number): ParsedResponse | null {
  const first = fields[0];
  if (!valid || exceeded || first?.name !== ':status' || !statusValue.test(first.value)) return null;
  // HTTP/2 has no switching of protocols (RFC 9113 8.6).
  if (first.value === '101') return null;
  let lines = '';
  for (let at = 1; at < fields.length; at++) {
    const field = fields[at] as (typeof fields)[number];
    if (field.pseudo) return null;
    lines += field.line;
  }
  const head = new ParsedResponse();
  head.status = Number(first.value);
  if (!readResponseFields(head, `${lines}\r\n`, 0, maxHeaderCount)) return null;
  // Chunked, or an upgrade: fields of connections, which HTTP/2 does not have (RFC 9113 8.2.2).
  if (head.bodyLength === -1 || head.upgrade !== '') return null;
  head.httpVersion = '2';
  head.bodyLength = -1;
  return head;
}
