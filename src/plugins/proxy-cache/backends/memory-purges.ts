import type { StoredEntry } from '../store/entry-store.ts';
import { preciseNow } from '../store/precise-now.ts';
import type { NotedPurge, PurgeLog } from '../store/purge-log.ts';

/** Bytes of the zone. */
export const memoryPurgesBytes = 4096;

/** Values of the header: the number of the last change (odd: in progress), and the time of the newest purge that was overwritten. */
const headerBytes = 16;
/** Values of a purge: time, kind, hash of the instance, hash and length of its text. */
const valuesPerPurge = 5;
const capacity = Math.floor((memoryPurgesBytes - headerBytes) / (valuesPerPurge * Float64Array.BYTES_PER_ELEMENT));
/** Attempts to read while the control plane writes. */
const maxReads = 100;

const Kind = { instance: 1, key: 2, tag: 3, prefix: 4 } as const;

/**
 * The last purges in memory that all workers of the node share. Only the control plane writes. Texts are hashed: a collision means
 * that one response is not stored.
 */
export function memoryPurges(memory: SharedArrayBuffer, instance: string): PurgeLog {
  const sequence = new Int32Array(memory, 0, 1);
  const overwritten = new Float64Array(memory, 8, 1);
  const values = new Float64Array(memory, headerBytes, capacity * valuesPerPurge);
  const own = hashOf(instance, instance.length);
  const read = (entry: KeyedEntry, sentAt: number): boolean => {
    if (overwritten[0]! >= sentAt) return true;
    for (let at = 0; at < values.length; at += valuesPerPurge) {
      if (values[at]! >= sentAt && values[at + 2] === own && covers(values, at, entry)) return true;
    }
    return false;
  };
  return {
    note(target) {
      const oldest = oldestOf(values);
      Atomics.add(sequence, 0, 1);
      overwritten[0] = Math.max(overwritten[0]!, values[oldest]!);
      const [kind, text] = describe(target);
      values.set([preciseNow(), kind, own, hashOf(text, text.length), text.length], oldest);
      Atomics.add(sequence, 0, 1);
    },
    hasPurged(key, { tags, url }, sentAt) {
      for (let reads = 0; reads < maxReads; reads++) {
        const before = Atomics.load(sequence, 0);
        if (before % 2 !== 0) continue;
        const result = read({ key, tags, url }, sentAt);
        if (Atomics.load(sequence, 0) === before) return result;
      }
      return true;
    },
    close() {},
  };
}

type KeyedEntry = Pick<StoredEntry, 'tags' | 'url'> & { readonly key: string };

function describe(target: NotedPurge): readonly [kind: number, text: string] {
  if ('key' in target) return [Kind.key, target.key];
  if ('tag' in target) return [Kind.tag, target.tag];
  return 'prefix' in target ? [Kind.prefix, target.prefix] : [Kind.instance, ''];
}

function covers(values: Float64Array, at: number, { key, tags, url }: KeyedEntry): boolean {
  const [kind, hash, length] = [values[at + 1], values[at + 3], values[at + 4]!];
  const is = (text: string): boolean => text.length >= length && hashOf(text, length) === hash;
  if (kind === Kind.instance) return true;
  if (kind === Kind.key) return is(key);
  if (kind === Kind.prefix) return is(url);
  return tags.some((tag) => tag.length === length && is(tag));
}

function oldestOf(values: Float64Array): number {
  let oldest = 0;
  for (let at = 0; at < values.length; at += valuesPerPurge) if (values[at]! < values[oldest]!) oldest = at;
  return oldest;
}

/** FNV-1a of the first `length` characters. */
function hashOf(text: string, length: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
