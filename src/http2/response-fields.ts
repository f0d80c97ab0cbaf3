import { trimBlanks } from '../http1/field-names.ts';

/** Fields of one connection, which HTTP/2 does not know (RFC 9113 8.2.2); lengths are the engine's own matter. */
const dropped: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
  'content-length',
  // Part of a handshake that HTTP/2 does without (RFC 8441 5).
  'sec-websocket-accept',
]);

/** `:status`, then the lines of a header block: names in lower case and values in turn. */
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

/** Names as they stand in blocks to what is sent for them, null for what is dropped. Beyond so many, names are read anew each time. */
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
  // A copy: what was sliced from a block would keep the block.
  if (known.size < maxKnown) known.set(Buffer.from(name, 'latin1').toString('latin1'), result);
  return result;
}
