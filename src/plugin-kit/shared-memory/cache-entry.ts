import type { StoredValue } from '../../plugin-sdk/shared-store.ts';

/** A value of a `SharedCache` in its store. */
export interface CacheEntry {
  /** Null: the load found nothing. Frozen, because all requests of a worker share it. */
  readonly value: unknown;
  /** Milliseconds since the epoch; afterwards it is only used if a load fails. */
  readonly freshUntil: number;
  readonly version: number;
}

/** Kind (0: nothing was found, 1: JSON), then `freshUntil` as a double. */
const metaBytes = 9;

/** Bytes of an entry; null: the value is no JSON, or larger than `maxBytes`. */
export function encodeEntry(
  value: unknown,
  freshUntil: number,
  maxBytes: number,
): { readonly meta: Buffer; readonly body: Buffer } | null {
  const meta = Buffer.alloc(metaBytes);
  meta.writeDoubleLE(freshUntil, 1);
  if (value === null) return { meta, body: Buffer.alloc(0) };
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined || Buffer.byteLength(text) > maxBytes) return null;
  meta[0] = 1;
  return { meta, body: Buffer.from(text) };
}

export function decodeEntry({ meta, body, version }: StoredValue): CacheEntry | null {
  if (meta.byteLength !== metaBytes) return null;
  const value = meta[0] === 1 ? frozen(JSON.parse(body.toString())) : null;
  return { value, freshUntil: meta.readDoubleLE(1), version };
}

/** Without recursion: the depth of a value is not bounded. */
export function frozen(value: unknown): unknown {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one !== 'object' || one === null) continue;
    Object.freeze(one);
    for (const member of Object.values(one)) left.push(member);
  }
  return value;
}
