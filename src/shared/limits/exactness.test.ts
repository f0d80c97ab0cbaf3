import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { recoverZone, zoneStats } from '../zones/zone-stats.ts';
import type { Hammer } from './hammer.fixture.ts';
import { createLimitTools } from './limit-tools.ts';

const fixture = new URL('./hammer.fixture.ts', import.meta.url);

type Options = Pick<Hammer, 'kind' | 'limit' | 'requests' | 'keys'> & {
  readonly threads: number;
  readonly clock?: SharedArrayBuffer;
  readonly memory?: SharedArrayBuffer;
  /** Runs while the threads do. */
  readonly meanwhile?: () => Promise<void>;
};

/** How many requests passed, over all threads that begin at the same moment. */
async function hammer({ threads, meanwhile, clock, memory = new SharedArrayBuffer(1 << 20), ...rest }: Options) {
  const gate = new SharedArrayBuffer(8);
  const start = new Int32Array(gate);
  const workers = Array.from({ length: threads }, (_, worker) => {
    const workerData: Hammer = { memory, worker, gate, clock: clock ?? null, ...rest };
    return new Worker(fixture, { workerData });
  });
  const results = Promise.all(
    workers.map(
      (worker) =>
        new Promise<number>((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        }),
    ),
  );
  while (Atomics.load(start, 1) < threads) await new Promise((resolve) => setImmediate(resolve));
  Atomics.store(start, 0, 1);
  Atomics.notify(start, 0);
  await meanwhile?.();
  const passed = await results;
  return passed.reduce((sum, one) => sum + one, 0);
}

function clockAt(time: number): SharedArrayBuffer {
  const clock = new SharedArrayBuffer(8);
  new Float64Array(clock)[0] = time;
  return clock;
}

const midday = Date.UTC(2030, 0, 1, 12);

for (const threads of [1, 2, 4]) {
  test(`exactly the limit passes, on ${threads} threads, of windows`, async () => {
    const passed = await hammer({
      kind: 'windows',
      threads,
      limit: 1000,
      requests: 20_000,
      keys: 1,
      clock: clockAt(midday),
    });
    assert.equal(passed, 1000);
  });

  test(`exactly the limit passes, on ${threads} threads, of a bucket`, async () => {
    const passed = await hammer({
      kind: 'bucket',
      threads,
      limit: 500,
      requests: 20_000,
      keys: 3,
      clock: clockAt(midday),
    });
    assert.equal(passed, 3 * 500);
  });

  test(`exactly the limit is in flight, on ${threads} threads`, async () => {
    assert.equal(await hammer({ kind: 'concurrency', threads, limit: 77, requests: 5000, keys: 5 }), 5 * 77);
  });
}

test('exactly the limit passes in each window, whatever the threads do at its edge', async () => {
  const clock = clockAt(midday);
  const time = new Float64Array(clock);
  const windows = 50;
  const meanwhile = async (): Promise<void> => {
    for (let at = 0; at < windows * 10; at++) {
      time[0] = midday + at * 100;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const options = { kind: 'windows', threads: 2, limit: 100, requests: 3_000_000, keys: 1 } as const;
  const passed = await hammer({ ...options, clock, meanwhile });
  assert.equal(passed % 100, 0, 'every window was used up to its limit, as each had far more requests');
  assert.ok(passed > 100 && passed <= windows * 100, String(passed));
});

test('requests in flight of a dead worker are released, and so are its locks', async () => {
  const memory = new SharedArrayBuffer(1 << 16);
  const dead = createLimitTools({ worker: 3, zone: () => memory, lease: async () => [] });
  const concurrency = dead.concurrency({ namespace: 'n', zone: 'z', limit: 2 });
  assert.equal(concurrency.acquire('k'), 1);
  assert.equal(concurrency.acquire('k'), 2);
  assert.equal(concurrency.acquire('k'), -1);
  const words = new Int32Array(memory);
  // A thread that was ended while it held every lock.
  for (let at = 256; at < words.length; at += 256) words[at] = 4;
  recoverZone(memory, 3);
  assert.equal(concurrency.acquire('k'), 1);
  assert.equal(zoneStats(memory).used, 1);
});

test('many workers have requests of one key in flight, and those of each dead worker are released', () => {
  const memory = new SharedArrayBuffer(1 << 16);
  const workers = Array.from({ length: 64 }, (_, worker) =>
    createLimitTools({ worker, zone: () => memory, lease: async () => [] }).concurrency({
      namespace: 'n',
      zone: 'z',
      limit: 128,
    }),
  );
  for (let round = 0; round < 2; round++) {
    for (const [worker, limiter] of workers.entries()) assert.equal(limiter.acquire('k'), round * 64 + worker + 1);
  }
  for (const limiter of workers) assert.equal(limiter.acquire('k'), -1);
  recoverZone(memory, 17);
  assert.equal(workers[3]!.acquire('k'), 127);
  assert.equal(workers[60]!.acquire('k'), 128);
  assert.equal(workers[17]!.acquire('k'), -1);
  // The requests of the dead worker cannot be released by its successor.
  workers[17]!.release('k');
  assert.equal(workers[17]!.acquire('k'), -1);
  for (const worker of workers.keys()) recoverZone(memory, worker);
  assert.equal(zoneStats(memory).used, 0);
  assert.equal(workers[63]!.acquire('k'), 1);
});
