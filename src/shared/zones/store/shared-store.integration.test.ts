import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import '../../../../test/support/file-end.ts';
import { until } from '../../../../test/support/until.ts';
import { sharedStore } from '../../../plugin-kit/shared-memory/index.ts';
import { audit, chances, checkMarked, putMarked, type StoreHammer } from './store-hammer.fixture.ts';
import { Header } from './store-layout.ts';
import { threadNumber } from './store-memory.ts';
import { recoverStore } from './store-recovery.ts';

const fixture = new URL('./store-hammer.fixture.ts', import.meta.url);
const kibibyte = 1024;

function start(workerData: StoreHammer): Worker {
  return new Worker(fixture, { workerData });
}

/** The last message of a thread, or why it failed. */
function outcome(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message) => {
      if (typeof message === 'number') resolve(message);
    });
    worker.once('error', reject);
  });
}

/** About one thread in seven is terminated while it has the lock. For a measurement: `KILL_ROUNDS=100`. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? 20);

for (const [name, bytes, keys, maxBytes] of [
  ['few keys that all threads use', 512 * kibibyte, 6, 60 * kibibyte],
  ['many keys in a store that is too small', 256 * kibibyte, 2000, 20 * kibibyte],
  ['large values', 16_384 * kibibyte, 12, 3000 * kibibyte],
] as const) {
  test(`four threads read what was put, whole, and nothing is lost: ${name}`, async (t) => {
    const seed = Number(process.env['STORE_SEED'] ?? randomInt(2 ** 31));
    t.diagnostic(`STORE_SEED=${seed}`);
    const memory = new SharedArrayBuffer(bytes);
    const operations = maxBytes > 2 ** 20 ? 300 : 10_000;
    const threads = [0, 1, 2, 3].map((worker) =>
      start({ memory, worker, seed: seed + worker * 7919, keys, maxBytes, operations }),
    );
    const found = await Promise.all(threads.map(outcome));
    assert.ok(
      found.every((count) => count > 10),
      `values were found: ${found}`,
    );
    await Promise.all(threads.map((thread) => thread.terminate()));
    // Writes that were interrupted because the lock was not available are cleaned up by recovery.
    for (const worker of [0, 1, 2, 3]) recoverStore(memory, worker);
    audit(memory);
  });
}

test('threads that are terminated at any moment leave a consistent store that blocks no thread', async (t) => {
  const seed = Number(process.env['STORE_SEED'] ?? randomInt(2 ** 31));
  t.diagnostic(`STORE_SEED=${seed}`);
  const random = chances(seed);
  const memory = new SharedArrayBuffer(512 * kibibyte);
  const words = new Int32Array(memory);
  const one = sharedStore(memory, { worker: 'control-plane' });
  let held = 0;
  let worst = 0;
  for (let round = 0; round < rounds; round++) {
    const common = { memory, keys: 40, maxBytes: 60 * kibibyte, operations: 0 };
    const threads = [1, 2].map((worker) => start({ ...common, worker, seed: seed + round * 31 + worker }));
    const failures = threads.map((thread) => once(thread, 'error').then(([error]) => error));
    await Promise.all(threads.map((thread) => once(thread, 'message')));
    await sleep(random() * 12);
    await Promise.all(threads.map((thread) => thread.terminate()));
    assert.equal(await Promise.race([...failures, null]), null);
    const holder = words[Header.lock] ?? 0;
    if (holder !== 0) held++;
    // A get never waits for another thread, dead or alive.
    const before = performance.now();
    for (let at = 0; at < 40; at++) {
      const value = one.get(`key-${at}`);
      if (value !== null) checkMarked(`key-${at}`, value);
    }
    worst = Math.max(worst, performance.now() - before);
    for (const worker of [1, 2]) recoverStore(memory, worker);
    assert.notEqual(words[Header.lock], threadNumber(1));
    audit(memory);
    assert.equal(putMarked(one, 'key-1', round, 5000), true);
    const value = one.get('key-1');
    if (round % 7 !== 0) assert.ok(value !== null);
  }
  t.diagnostic(`${held} of ${rounds} ended with the lock; 40 gets took ${worst.toFixed(1)} ms at most`);
});

test('while threads are terminated, the others read and write whole entries', async (t) => {
  const seed = Number(process.env['STORE_SEED'] ?? randomInt(2 ** 31));
  t.diagnostic(`STORE_SEED=${seed}`);
  const random = chances(seed);
  const memory = new SharedArrayBuffer(512 * kibibyte);
  const common = { memory, keys: 40, maxBytes: 60 * kibibyte, operations: 0 };
  const living = start({ ...common, worker: 0, seed });
  let failure: unknown = null;
  living.once('error', (error) => {
    failure = error;
  });
  await once(living, 'message');
  let repairs = 0;
  for (let round = 0; round < rounds; round++) {
    const dying = start({ ...common, worker: 1, seed: seed + round });
    await once(dying, 'message');
    await sleep(random() * 8);
    await dying.terminate();
    if (Atomics.load(new Int32Array(memory), Header.lock) === threadNumber(1)) repairs++;
    recoverStore(memory, 1);
  }
  const { hits } = sharedStore(memory, { worker: 'control-plane' }).stats();
  // The living thread goes on.
  await until(() => sharedStore(memory, { worker: 'control-plane' }).stats().hits > hits);
  await living.terminate();
  recoverStore(memory, 0);
  assert.equal(failure, null);
  audit(memory);
  t.diagnostic(`${repairs} of ${rounds} ended with the lock`);
});

test('followers in other threads continue when the leading thread is terminated', async () => {
  const memory = new SharedArrayBuffer(512 * kibibyte);
  const code = (body: string): string => `
    const { workerData, parentPort } = require('node:worker_threads');
    import(${JSON.stringify(new URL('../../../plugin-kit/shared-memory/index.ts', import.meta.url).href)}).then(async ({ sharedStore }) => {
      const store = sharedStore(workerData.memory, { worker: workerData.worker });
      ${body}
    });`;
  const leader = new Worker(
    code(`parentPort.postMessage(store.board('k', 60000) === null); setInterval(() => {}, 1000);`),
    {
      eval: true,
      workerData: { memory, worker: 1 },
    },
  );
  assert.deepEqual(await once(leader, 'message'), [true]);
  const follow = code(`
    const wait = store.board('k', 60000);
    const end = wait(30000);
    parentPort.postMessage('waiting');
    setInterval(() => {}, 1000);
    parentPort.postMessage(await end);
    parentPort.postMessage(store.board('k', 60000) === null ? 'leads' : 'follows');`);
  const followers = [2, 3].map((worker) => new Worker(follow, { eval: true, workerData: { memory, worker } }));
  const said = followers.map((follower) => {
    const lines: string[] = [];
    follower.on('message', (line: string) => lines.push(line));
    return lines;
  });
  const until = async (count: number): Promise<void> => {
    while (said.some((lines) => lines.length < count)) await sleep(2);
  };
  await until(1);
  await leader.terminate();
  const died = performance.now();
  recoverStore(memory, 1);
  await until(3);
  assert.ok(performance.now() - died < 5000);
  assert.deepEqual(
    said.map((lines) => lines[1]),
    ['done', 'done'],
  );
  assert.deepEqual(said.map((lines) => lines[2]).sort(), ['follows', 'leads']);
  await Promise.all(followers.map((follower) => follower.terminate()));
});

test('threads that end while they wait for a flight affect no other thread', async () => {
  const memory = new SharedArrayBuffer(512 * kibibyte);
  const store = sharedStore(memory, { worker: 0 });
  assert.equal(store.board('k', 60_000), null);
  const code = `
    const { workerData, parentPort } = require('node:worker_threads');
    import(${JSON.stringify(new URL('../../../plugin-kit/shared-memory/index.ts', import.meta.url).href)}).then(({ sharedStore }) => {
      sharedStore(workerData, { worker: 1 }).board('k', 60000)(30000);
      parentPort.postMessage('waiting');
      setInterval(() => {}, 1000);
    });`;
  const own = store.board('k', 60_000)?.(30_000);
  for (let round = 0; round < 5; round++) {
    const follower = new Worker(code, { eval: true, workerData: memory });
    await once(follower, 'message');
    await follower.terminate();
    recoverStore(memory, 1);
  }
  store.land('k');
  assert.equal(await own, 'done');
});
