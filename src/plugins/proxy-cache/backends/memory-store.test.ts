import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStore } from '../../../plugin-kit/shared-memory/index.ts';
import { entryOf, entryStoreContract, keyOf } from '../store/entry-store.contract.ts';
import { memoryStore } from './memory-store.ts';

const megabyte = 2 ** 20;
const shared = new SharedArrayBuffer(8 * megabyte);

entryStoreContract('entries in memory', {
  open: (instance, worker) => memoryStore(shared, { instance, worker }),
  tooLarge: 4 * megabyte,
});

test('an entry is copied again only after it has changed', () => {
  const memory = new SharedArrayBuffer(megabyte);
  const [one, two] = [0, 1].map((worker) => memoryStore(memory, { instance: 'i', worker }));
  one?.put(keyOf('k'), entryOf());
  const first = two?.get(keyOf('k'));
  assert.equal(two?.get(keyOf('k')), first);
  one?.put(keyOf('k'), entryOf());
  assert.notEqual(two?.get(keyOf('k')), first);
});

test('hits on copies keep the entry from being evicted', () => {
  const memory = new SharedArrayBuffer(megabyte);
  const [one, two] = [0, 1].map((worker) => memoryStore(memory, { instance: 'i', worker }));
  one?.put(keyOf('busy'), entryOf());
  for (let at = 0; at < 3000; at++) {
    one?.put(keyOf(`${at}`), entryOf({ body: Buffer.alloc(3000) }));
    assert.notEqual(two?.get(keyOf('busy')), null);
  }
  assert.ok(sharedStore(memory, { worker: 0 }).stats().evictions > 2000);
});

test('the copies of a worker are bounded', () => {
  const memory = new SharedArrayBuffer(64 * megabyte);
  const store = memoryStore(memory, { instance: 'i', worker: 0 });
  for (let at = 0; at < 400; at++) store.put(keyOf(`${at}`), entryOf({ body: Buffer.alloc(100_000) }));
  const firsts = Array.from({ length: 400 }, (_, at) => store.get(keyOf(`${at}`)));
  const copied = firsts.filter((entry, at) => entry !== null && store.get(keyOf(`${at}`)) === entry).length;
  assert.ok(copied <= 45, `${copied} of 100 KB each in 4 MiB`);
});

test('bytes that are not an entry are a miss', () => {
  const memory = new SharedArrayBuffer(megabyte);
  const raw = sharedStore(memory, { worker: 0, namespace: 'i/' });
  const store = memoryStore(memory, { instance: 'i', worker: 0 });
  for (const meta of [Buffer.alloc(0), Buffer.from('x'.repeat(40)), Buffer.alloc(4000)]) {
    raw.put(keyOf('k'), { meta, body: Buffer.alloc(4), expires: 9e15 });
    assert.equal(store.get(keyOf('k')), null);
  }
});
