import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedSecret } from '../../plugin-kit/auth/shared-secret.ts';
import { sharedStore } from '../../plugin-kit/shared-memory/index.ts';
import { recoverMemory, zoneFill } from './zone-kinds.ts';
import { ZoneTable } from './zone-table.ts';

test('of a plugin’s private memory only the size is reported, and nothing is changed when a worker ends', () => {
  const memory = new SharedArrayBuffer(64 * 1024);
  const words = new Int32Array(memory);
  const secret = sharedSecret(memory);
  // What a table would take for locks of worker 1, and for what it has in flight.
  words.fill(2, 256);
  for (let at = 0; at < 40; at++) {
    recoverMemory('raw', memory, at);
    assert.ok(words.subarray(256).every((word) => word === 2));
  }
  assert.equal(sharedSecret(memory), secret);
  assert.deepEqual(zoneFill('raw', memory), { bytes: 64 * 1024 });
});

test('a store reports its fill level, and is recovered as a store', () => {
  const memory = new SharedArrayBuffer(512 * 1024);
  const store = sharedStore(memory, { worker: 1 });
  store.put('k', { meta: Buffer.from('m'), body: Buffer.alloc(3000), expires: 9e15 });
  store.get('k');
  store.get('none');
  assert.equal(store.board('k', 60_000), null);
  recoverMemory('store', memory, 1);
  assert.equal(store.board('k', 60_000), null, 'the flight of the worker that ended is over');
  const fill = zoneFill('store', memory);
  assert.ok(
    'capacity' in fill &&
      'slots' in fill &&
      fill.capacity > 400_000 &&
      fill.slots === Math.floor(fill.capacity / 1024 / 16) * 16,
  );
  assert.deepEqual(
    { ...fill, capacity: 0, slots: 0 },
    { bytes: 512 * 1024, capacity: 0, taken: 3072, slots: 0, used: 1, evictions: 0, hits: 1, misses: 1 },
  );
});

test('a thread that ended while it created the seed of a table blocks no other thread', () => {
  const memory = new SharedArrayBuffer(4096);
  const words = new Int32Array(memory);
  // As another thread left it: one word is set.
  words[0] = 1;
  words[1] = 4711;
  const [one, two] = [new ZoneTable(memory, 0), new ZoneTable(memory, 1)];
  assert.equal(one.identity, two.identity);
  assert.equal(words[1], 4711);
  assert.notEqual(words[2], 0);
});
