import { trimBlanks } from '../http1/field-names.ts';

/** Connection-specific fields, which HTTP/2 does not allow (RFC 9113 8.2.2). The engine sends lengths itself. */
const dropped: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
  'content-length',
  // Part of a handshake that HTTP/2 does not need (RFC 8441 5).
  'sec-websocket-accept',
]);

/** `:status`, then the lines of a header block: alternating lower-case names and values. */
export function responseFields(status: number, block: string): string[] {
  const fields = [':status', String(status)];
  appendFields(fields, block);
  return fields;
}

/** The lines of a block of trailers, as an object; values of one name in order. */
export function trailerFields(block: string): Record<string, string[]> {
  const list: string[] = [];
  appendFields(list, block);
  const fields: Record<string, string[]> = Object.create(null);
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] as string;
    fields[name] = [...(fields[name] ?? []), list[at + 1] as string];
  }
  return fields;
}

/**
 * Cache of names as they appear in blocks to the names that are sent; null for dropped ones. Names above its size are
 * converted each time.
 */
const known = new Map<string, string | null>([...dropped].map((name) => [name, null]));
const maxKnown = 1000;

function appendFields(fields: string[], block: string): void {
  for (let at = 0; at < block.length; ) {
    const colon = block.indexOf(':', at);
    const end = block.indexOf('\r', colon);
    const name = block.slice(at, colon);
    let lower = known.get(name);
    if (lower === undefined) lower = learn(name);
    if (lower !== null) fields.push(lower, trimBlanks(block.slice(colon + 1, end)));
    at = end + 2;
  }
}

function learn(name: string): string | null {
  const lower = name.toLowerCase();
  const result = dropped.has(lower) ? null : lower;
  // A copy: a slice of a block would retain the whole block.
  if (known.size < maxKnown) known.set(Buffer.from(name, 'latin1').toString('latin1'), result);
  return result;
}
