import { onlyFields, withoutFields } from '../../shared/http/header-block.ts';
import { trimBlanks } from './field-names.ts';

/**
 * Fields for all recipients, which `Connection` cannot make hop-by-hop (RFC 9110 7.6.1). Otherwise a client could show the
 * gateway a content type, a credential or a condition that the backend never gets.
 */
const endToEnd =
  /^(?:accept(?:-.+)?|access-control-.+|age|allow|authorization|baggage|b3|cache-control|content-.+|cookie|date|digest|early-data|etag|expect|expires|forwarded|from|grpc-.+|host|if-.+|last-modified|link|location|max-forwards|origin|pragma|prefer|range|referer|retry-after|sec-.+|server|set-cookie|signature(?:-input)?|soapaction|strict-transport-security|trace(?:parent|state)|transfer-encoding|user-agent|vary|via|warning|www-authenticate|x-b3-.+|x-forwarded-.+|x-real-ip|x-request-id)$/;

/** The options in `Connection` (RFC 9110 7.6.1). */
export interface ConnectionOptions {
  /** Null: neither `close` nor `keep-alive` is listed. */
  readonly keepAlive: boolean | null;
  readonly upgrade: boolean;
  /** Lower-case names of fields that are not forwarded; null: none. */
  readonly fields: ReadonlySet<string> | null;
}

const keep: ConnectionOptions = Object.freeze({ keepAlive: true, upgrade: false, fields: null });

/** Parses the joined values of `Connection`. `close` overrides `keep-alive`. */
export function connectionOptions(value: string): ConnectionOptions {
  const lower = value.toLowerCase();
  if (lower === 'keep-alive') return keep;
  let keepAlive: boolean | null = null;
  let upgrade = false;
  let fields: Set<string> | null = null;
  for (const part of lower.split(',')) {
    const option = trimBlanks(part);
    if (option === 'close') keepAlive = false;
    else if (option === 'keep-alive') keepAlive ??= true;
    else if (option === 'upgrade') upgrade = true;
    else if (option !== '' && !endToEnd.test(option)) {
      fields ??= new Set();
      fields.add(option);
    }
  }
  return { keepAlive, upgrade, fields };
}

/** The part of a request head that `Connection` changes. */
interface ForwardedLines {
  forwardBlock: string;
  hopByHop: string;
}

/** Removes these fields from the lines that are forwarded. */
export function dropFields(head: ForwardedLines, fields: ReadonlySet<string>): void {
  const kept = withoutFields(head.forwardBlock, fields);
  if (kept.length === head.forwardBlock.length) return;
  head.hopByHop = onlyFields(head.forwardBlock, fields);
  head.forwardBlock = kept;
}

/**
 * Forwards a field that a plugin reads although `Connection` names it: what was checked is what the backend gets.
 * Returns false when the request was already `sent` without it, so that a cache key, say, matches what was sent.
 */
export function keepField(head: ForwardedLines, name: string, sent: boolean): boolean {
  const fields = new Set([name]);
  const lines = onlyFields(head.hopByHop, fields);
  if (lines === '') return true;
  if (sent) return false;
  head.hopByHop = withoutFields(head.hopByHop, fields);
  head.forwardBlock += lines;
  return true;
}
