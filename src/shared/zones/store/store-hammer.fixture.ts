import assert from 'node:assert/strict';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { sharedStore } from '../../../plugin-kit/shared-memory/index.ts';
import type { SharedStore, StoredValue } from '../../../plugin-sdk/shared-store.ts';
import { Header, Slot } from './store-layout.ts';
import { StoreMemory } from './store-memory.ts';

/** The job of a hammering thread. */
export interface StoreHammer {
  readonly memory: SharedArrayBuffer;
  readonly worker: number;
  readonly seed: number;
  readonly keys: number;
  readonly maxBytes: number;
  /** 0: until it is terminated. */
  readonly operations: number;
}

/** Random numbers from 0 to 1, the same for the same seed (a linear congruential generator). */
export function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A body from which its completeness and its owner can be checked. */
export function putMarked(store: SharedStore, key: string, nonce: number, size: number): boolean {
  const body = Buffer.alloc(size, 0);
  const words = new Int32Array(body.buffer, body.byteOffset, size >> 2);
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(nonce + at, 2_654_435_761);
  return store.put(key, {
    meta: Buffer.from(`${key}/${nonce}/${size}`),
    body,
    expires: nonce % 7 === 0 ? Date.now() + 3 : Number.POSITIVE_INFINITY,
  });
}

/** Throws when a value is not a complete one that was put under the key. */
export function checkMarked(key: string, value: StoredValue): void {
  const [name, nonce, size] = value.meta.toString().split('/');
  assert.equal(name, key);
  assert.equal(value.body.length, Number(size));
  const words = new Int32Array(new Uint8Array(value.body.subarray(0, value.body.length & ~3)).buffer);
  for (let at = 0; at < words.length; at++) {
    if (words[at] !== Math.imul(Number(nonce) + at, 2_654_435_761))
      assert.fail(`${key}: torn at word ${at} of ${size}`);
  }
}

/** Throws when the pages and counts of a store at rest do not add up. */
export function audit(memory: SharedArrayBuffer): void {
  const store = new StoreMemory(memory);
  const { words, geometry } = store;
  const owners = new Map<number, number>();
  let entries = 0;
  for (let slot = 0; slot < geometry.slotCount; slot++) {
    const at = store.slotAt(slot);
    if (words[geometry.tags + slot] === 0) {
      assert.equal(words[at]! & 1, 0, 'a free slot holds no entry');
      continue;
    }
    if ((words[at]! & 1) === 1) entries++;
    let page = words[at + Slot.firstPage]!;
    for (let left = words[at + Slot.pages]!; left > 0; left--) {
      assert.ok(page >= 0 && !owners.has(page), `page ${page} has one entry`);
      owners.set(page, slot + 1);
      page = store.pageAfter(page);
    }
  }
  assert.equal(words[Header.entries], entries);
  for (let page = 0; page < geometry.pageCount; page++) {
    const owner = words[geometry.owners + page]!;
    if (owner === -1) owners.set(page, -1);
    else assert.equal(owner, owners.get(page) ?? 0);
  }
  assert.equal(words[Header.usedPages], owners.size);
  assert.deepEqual([words[Header.lock], words[Header.flightLock]], [0, 0]);
}

/** Performs a random operation; returns 1 when it read a value. */
function operate(store: SharedStore, random: () => number, { keys, maxBytes }: StoreHammer): number {
  const key = `key-${Math.floor(random() * random() * keys)}`;
  const what = random();
  if (what < 0.45) {
    const value = store.get(key);
    if (value !== null) checkMarked(key, value);
    return value === null ? 0 : 1;
  }
  if (what < 0.8) {
    putMarked(store, key, Math.floor(random() * 1e6), Math.floor(random() ** 4 * maxBytes));
  } else if (what < 0.88) {
    store.delete(key);
  } else if (what < 0.96) {
    const version = store.version(key);
    if (store.isCurrent(version) && random() < 0.1) store.remove(version);
  } else if (what < 0.98) {
    store.scan(Math.floor(random() * 64), 16, ({ key: name, meta }) =>
      assert.ok(meta.toString().startsWith(`${name}/`)),
    );
  } else if (store.board(key, 5) === null) {
    store.land(key);
  }
  return 0;
}

if (!isMainThread && workerData?.memory instanceof SharedArrayBuffer) {
  const options = workerData as StoreHammer;
  const store = sharedStore(options.memory, { worker: options.worker });
  const random = chances(options.seed);
  parentPort?.postMessage('begun');
  let found = 0;
  for (let done = 0; options.operations === 0 || done < options.operations; done++)
    found += operate(store, random, options);
  parentPort?.postMessage(found);
}
