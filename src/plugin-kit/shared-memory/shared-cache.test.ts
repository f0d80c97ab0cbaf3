import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testNode } from '../../plugin-testing/index.ts';
import { CacheLoadFailed, type SharedCache, type SharedCacheOptions, sharedCache } from './index.ts';

type Value = { readonly n: number; readonly list?: readonly number[] };

/** The caches of two workers over one zone, with one clock. */
function twoWorkers(options: Partial<SharedCacheOptions> = {}, bytes = 1 << 20) {
  const memory = new SharedArrayBuffer(bytes);
  const clock = { now: 1_000_000 };
  const open = (worker: number, more: Partial<SharedCacheOptions> = {}): SharedCache<Value> =>
    sharedCache<Value>(
      { zone: () => memory, node: { ...testNode, worker }, instanceId: 'instance' },
      { zone: 'values', ttl: 1000, timeout: 5000, now: () => clock.now, ...options, ...more },
    );
  return { clock, open, first: open(0), second: open(1) };
}

const never = async (): Promise<null> => assert.fail('it must not be loaded');
const failing = async (): Promise<null> => Promise.reject(new Error('down'));

test('a value is loaded once for all workers, and then returned without a promise', async () => {
  const { first, second } = twoWorkers();
  assert.deepEqual(await first.get('a', async () => ({ n: 1 })), { n: 1 });
  assert.deepEqual(first.get('a', never), { n: 1 });
  assert.deepEqual(second.get('a', never), { n: 1 });
});

test('requests that wait for one load share it, in all workers', async () => {
  const { first, second } = twoWorkers();
  const gate = Promise.withResolvers<Value>();
  let loads = 0;
  const load = (): Promise<Value> => {
    loads++;
    return gate.promise;
  };
  const waiting = [first, first, second, second, first].map((cache) => cache.get('a', load));
  gate.resolve({ n: 7 });
  assert.deepEqual(await Promise.all(waiting), Array(5).fill({ n: 7 }));
  assert.equal(loads, 1);
});

test('what was not found is remembered for a time of its own', async () => {
  const { first, second, clock } = twoWorkers({ negativeTtl: 100 });
  assert.equal(await first.get('a', async () => null), null);
  assert.equal(second.get('a', never), null);
  clock.now += 100;
  assert.deepEqual(await second.get('a', async () => ({ n: 1 })), { n: 1 });
});

test('an old value is used while loads fail, and no longer', async () => {
  const { first, second, clock } = twoWorkers({ staleTtl: 500, errorTtl: 50 });
  await first.get('a', async () => ({ n: 1 }));
  clock.now += 1000;
  assert.deepEqual(await first.get('a', failing), { n: 1 });
  assert.deepEqual(await second.get('a', never), { n: 1 }); // the failure is recent
  clock.now += 50;
  assert.deepEqual(await second.get('a', async () => ({ n: 2 })), { n: 2 });
  clock.now += 1500;
  await assert.rejects(async () => second.get('a', failing), CacheLoadFailed);
});

test('after a failure there is no other load for a moment', async () => {
  const { first, second, clock } = twoWorkers({ errorTtl: 100 });
  const failure = await Promise.resolve(first.get('a', failing)).catch((error: unknown) => error);
  assert.ok(failure instanceof CacheLoadFailed && failure.reason === 'failed');
  assert.equal((failure.cause as Error).message, 'down');
  await assert.rejects(async () => second.get('a', never), CacheLoadFailed);
  clock.now += 100;
  assert.deepEqual(await second.get('a', async () => ({ n: 1 })), { n: 1 });
});

test('a load that takes too long is aborted, and its late result does not matter', async () => {
  const { first } = twoWorkers({ timeout: 10, errorTtl: 0 });
  const gate = Promise.withResolvers<Value>();
  const signals: AbortSignal[] = [];
  const load = (signal: AbortSignal): Promise<Value> => {
    signals.push(signal);
    return gate.promise;
  };
  await assert.rejects(async () => first.get('a', load), { reason: 'timeout' });
  assert.equal(signals[0]?.aborted, true);
  gate.reject(new Error('late'));
  assert.deepEqual(await first.get('a', async () => ({ n: 1 })), { n: 1 });
});

test('loads are bounded: what finds no place is refused', async () => {
  const { first } = twoWorkers({ concurrency: 1, maxWaiting: 2 });
  const gate = Promise.withResolvers<Value>();
  const clients = Array.from({ length: 6 }, (_, at) => `10.0.0.${at}`);
  const results = clients.map((ip) => Promise.resolve(first.get(ip, () => gate.promise, ip)).catch((error) => error));
  gate.resolve({ n: 1 });
  const settled = await Promise.all(results);
  const refused = settled.filter((one) => one instanceof CacheLoadFailed && one.reason === 'overloaded');
  assert.equal(refused.length, 3);
});

test('values of another version of the configuration, or another instance, are not found', async () => {
  const { first, open } = twoWorkers();
  await first.get('a', async () => ({ n: 1 }));
  assert.deepEqual(await open(0, { version: '2' }).get('a', async () => ({ n: 2 })), { n: 2 });
});

test('a deleted value is loaded again, by all workers', async () => {
  const { first, second } = twoWorkers();
  await first.get('a', async () => ({ n: 1 }));
  second.get('a', never);
  first.delete('a');
  assert.deepEqual(await second.get('a', async () => ({ n: 2 })), { n: 2 });
});

test('a value cannot be changed by a request', async () => {
  const { first } = twoWorkers();
  const value = await first.get('a', async () => ({ n: 1, list: [1] }));
  assert.ok(value !== null && Object.isFrozen(value) && Object.isFrozen(value.list));
});

test('a value that is too large is returned and not kept', async () => {
  const { first } = twoWorkers({ maxBytes: 20 });
  const large = { n: 1, list: Array<number>(100).fill(1) };
  assert.deepEqual(await first.get('a', async () => large), large);
  assert.deepEqual(await first.get('a', async () => ({ n: 2 })), { n: 2 });
});

test('names that every object has are keys and members like others', async () => {
  const { first, second } = twoWorkers();
  const value = JSON.parse('{"__proto__":{"n":1}}') as Value;
  assert.deepEqual(Object.keys((await first.get('__proto__', async () => value)) ?? {}), ['__proto__']);
  assert.deepEqual(Object.keys(second.get('__proto__', never) as object), ['__proto__']);
});

test('keys that clients choose use up no more than the zone', async () => {
  const { first } = twoWorkers({ localEntries: 10 }, 262_144);
  for (let at = 0; at < 5000; at++) await first.get('x'.repeat(at), async () => null, '10.0.0.1');
  assert.deepEqual(await first.get('a', async () => ({ n: 1 })), { n: 1 });
});

test('a worker that never ends its load delays the others, and does not stop them', async () => {
  const { first, second } = twoWorkers({ timeout: 20, errorTtl: 0 });
  const stuck = assert.rejects(async () => first.get('a', () => new Promise(() => undefined)), { reason: 'timeout' });
  assert.deepEqual(await second.get('a', async () => ({ n: 1 })), { n: 1 });
  await stuck;
  assert.deepEqual(first.get('a', never), { n: 1 });
});
