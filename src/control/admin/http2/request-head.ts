import { headerValues } from '../../../shared/http/header-block.ts';
import type { HeaderList } from '../../../shared/http2/hpack/header-list.ts';
import { malformed, pseudoFields, readPseudoFields, regularLines } from '../../../shared/http2/request-fields.ts';

/** A request as HTTP/1.1 writes it. */
export interface RequestHead {
  /** Through the empty line; latin1. */
  readonly text: string;
  readonly isHead: boolean;
  /** Bytes of the body; -1: unknown, so the body must be chunked. */
  readonly bodyLength: number;
}

/** The status to answer with instead. */
export interface Refusal {
  readonly refused: 400 | 405 | 431;
}

const methodName = /^[A-Z_-]{1,100}$/;
/** A path from its slash on: no blank, no control byte, no fragment. */
const requestPath = /^\/[\x21\x22\x24-\x7e\x80-\xff]*$/;
const decimal = /^\d{1,15}$/;

/**
 * The head of a stream as that of an HTTP/1.1 request. Its framing is written here and agrees with what the engine counts; nothing of the
 * client's can add a line, a length or a second request. `endStream`: there is no body.
 */
export function requestHead(list: HeaderList, endStream: boolean): RequestHead | Refusal | typeof malformed {
  if (list.exceeded) return { refused: 431 };
  if (!list.valid) return malformed;
  const start = readPseudoFields(list.fields);
  const { method, scheme, path, protocol } = pseudoFields;
  // Extended CONNECT is not offered.
  if (start < 0 || method === null || protocol !== null) return malformed;
  if (!methodName.test(method)) return { refused: 400 };
  if (method === 'CONNECT') return { refused: 405 };
  if (path === null || path === '' || scheme === null) return malformed;
  if (!requestPath.test(path) || (scheme !== 'http' && scheme !== 'https')) return { refused: 400 };
  const lines = regularLines(list.fields, start);
  if (lines === malformed) return malformed;
  if (typeof lines !== 'string' || headerValues(lines, 'host').length !== 1) return { refused: 400 };
  const bodyLength = lengthOf(headerValues(lines, 'content-length'), endStream);
  if (typeof bodyLength !== 'number') return bodyLength;
  const framing = bodyLength < 0 ? 'transfer-encoding: chunked\r\n' : '';
  // One request for each bridge.
  const text = `${method} ${path} HTTP/1.1\r\nconnection: close\r\n${framing}${lines}`;
  return { text, isHead: method === 'HEAD', bodyLength };
}

function lengthOf(values: readonly string[], endStream: boolean): number | Refusal | typeof malformed {
  const [value] = values;
  if (value === undefined) return endStream ? 0 : -1;
  if (values.length > 1 || !decimal.test(value)) return { refused: 400 };
  return endStream && Number(value) > 0 ? malformed : Number(value);
}
