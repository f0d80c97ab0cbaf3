import { type ErrorEntry, errors } from '../errors.ts';
import type { HeaderField } from './hpack/header-list.ts';

/** The head breaks HTTP/2 itself (RFC 9113 8.1.1): no answer, the stream is reset with PROTOCOL_ERROR. */
export const malformed = Symbol('malformed');

/** Pseudo-header fields of a request (RFC 9113 8.3.1, RFC 8441 4); null where one is absent. */
export interface PseudoFields {
  method: string | null;
  scheme: string | null;
  authority: string | null;
  path: string | null;
  protocol: string | null;
}

/** Those of the head that was read last: it is used up before the next one is read, so all connections share them. */
export const pseudoFields: PseudoFields = { method: null, scheme: null, authority: null, path: null, protocol: null };

/**
 * Reads the pseudo-header fields at the beginning of a list into `pseudoFields`. Returns the index of the first regular field, or -1: one is
 * unknown or repeated.
 */
export function readPseudoFields(fields: readonly HeaderField[]): number {
  let method: string | null = null;
  let scheme: string | null = null;
  let authority: string | null = null;
  let path: string | null = null;
  let protocol: string | null = null;
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
  pseudoFields.method = method;
  pseudoFields.scheme = scheme;
  pseudoFields.authority = authority;
  pseudoFields.path = path;
  pseudoFields.protocol = protocol;
  return at;
}

/**
 * The regular fields from `start` on as lines with an empty one at the end, `:authority` first as `host`. The parts of a split cookie become one
 * line again (RFC 9113 8.2.3). `host` must not contradict `:authority` (RFC 9113 8.3.1).
 */
export function regularLines(fields: readonly HeaderField[], start: number): string | ErrorEntry | typeof malformed {
  const { authority } = pseudoFields;
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
