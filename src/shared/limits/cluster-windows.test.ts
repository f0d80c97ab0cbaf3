import assert from 'node:assert/strict';
import { afterEach, describe, it, mock } from 'node:test';
import { LimiterUnavailable, type WindowLimiter, type WindowLimiterOptions } from '../../plugin-sdk/limits.ts';
import { ZoneTable } from '../zones/zone-table.ts';
import { FakeCounterStore } from './cluster/fake-counter-store.fixture.ts';
import { createClusterWindows } from './cluster-windows.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const minute = 60_000;

const opened: WindowLimiter[] = [];
let time = noon;

function optionsOf(fields: Partial<WindowLimiterOptions>): WindowLimiterOptions {
  const limits = [{ period: 'minute', limit: 5 }] as const;
  return { namespace: 'test', limits, policy: 'cluster', zone: 'unused', now: () => time, ...fields };
}

/** A node with one worker. */
function node(store: FakeCounterStore, fields: Partial<WindowLimiterOptions> = {}, tolerant = false): WindowLimiter {
  const options = optionsOf({ ...fields, ...(tolerant ? { whenUnavailable: 'local' } : {}) });
  const limiter = createClusterWindows(options, store, new ZoneTable(new SharedArrayBuffer(1 << 20), 0));
  opened.push(limiter);
  return limiter;
}

async function allowed(nodes: readonly WindowLimiter[], requests: number, key = 'k'): Promise<number> {
  const all = Array.from({ length: requests }, (_, at) => nodes[at % nodes.length]?.take(key));
  return (await Promise.all(all)).filter((verdict) => verdict?.allowed).length;
}

async function rejects(limiter: WindowLimiter): Promise<void> {
  await assert.rejects(async () => limiter.take('k'), LimiterUnavailable);
}

describe('windows in the relational store', () => {
  afterEach(() => {
    for (const limiter of opened.splice(0)) limiter.close();
    time = noon;
    mock.timers.reset();
  });

  it('accepts exactly the limit on all nodes together', async () => {
    const store = new FakeCounterStore();
    const nodes = [node(store), node(store), node(store)];
    assert.equal(await allowed(nodes, 60), 5);
    assert.equal(await allowed(nodes, 60, 'another key'), 5);
    time += minute;
    assert.equal(await allowed(nodes, 60), 5);
  });

  it('sends one request for all that wait', async () => {
    const store = new FakeCounterStore();
    const one = node(store, { limits: [{ period: 'hour', limit: 1000 }] });
    const first = allowed([one], 10);
    const meanwhile = Promise.all([allowed([one], 20), allowed([one], 5, 'other')]);
    assert.deepEqual([await first, await meanwhile], [10, [20, 5]]);
    assert.ok(store.batches <= 2, `${store.batches} batches`);
  });

  it('reports to each request what is left after it', async () => {
    const one = node(new FakeCounterStore());
    const verdicts = await Promise.all(Array.from({ length: 7 }, () => one.take('k')));
    const remaining = verdicts.map((verdict) => verdict.windows[0]?.remaining);
    assert.deepEqual(remaining, [4, 3, 2, 1, 0, 0, 0]);
    assert.deepEqual(verdicts[6], {
      allowed: false,
      violated: 0,
      windows: [{ period: 'minute', limit: 5, remaining: 0, reset: 60 }],
    });
  });

  it('takes from all windows or from none, and the whole cost of a request or nothing', async () => {
    const store = new FakeCounterStore();
    const one = node(store, {
      limits: [
        { period: 'minute', limit: 5 },
        { period: 'day', limit: 7 },
      ],
    });
    assert.equal((await one.take('k', 4)).allowed, true);
    assert.equal((await one.take('k', 2)).violated, 0);
    time += minute;
    const refused = await one.take('k', 4);
    assert.deepEqual([refused.violated, refused.windows.map((window) => window.remaining)], [1, [5, 3]]);
    assert.equal((await one.take('k', 3)).allowed, true);
  });

  it('adds above the limit, and peeks without taking', async () => {
    const one = node(new FakeCounterStore());
    assert.equal((await one.peek('k')).windows[0]?.remaining, 5);
    assert.equal((await one.add('k', 7)).windows[0]?.remaining, 0);
    assert.deepEqual([(await one.peek('k')).allowed, (await one.take('k')).allowed], [false, false]);
  });

  it('does not query windows that are known to be full, until a second is over', async () => {
    const store = new FakeCounterStore();
    const one = node(store);
    await allowed([one], 6);
    const asked = store.batches;
    assert.equal(await allowed([one], 1000), 0);
    assert.equal(store.batches, asked);
    store.clear();
    assert.equal(await allowed([one], 1), 0);
    time += 1000;
    assert.equal(await allowed([one], 10), 5);
  });

  it('slides', async () => {
    const store = new FakeCounterStore();
    const nodes = [node(store, { windowType: 'sliding' }), node(store, { windowType: 'sliding' })];
    assert.equal(await allowed(nodes, 10), 5);
    time = noon + minute + minute / 2;
    assert.equal(await allowed(nodes, 10), 2);
    time = noon + 3 * minute;
    assert.equal(await allowed(nodes, 10), 5);
  });

  it('separates the keys of clients, whatever their content', async () => {
    const store = new FakeCounterStore();
    const one = node(store);
    for (const key of ['', 'a\0', 'a', 'x'.repeat(5000), 'x'.repeat(5001), 'ü']) {
      assert.equal(await allowed([one], 9, key), 5, key);
    }
    assert.ok(store.keys().every((key) => key.length < 200 && !key.includes('\0')));
  });

  describe('when the store is unavailable', () => {
    it('rejects, immediately after the first time, and recovers by itself', async () => {
      const store = new FakeCounterStore();
      const one = node(store);
      await one.take('k');
      mock.timers.enable({ apis: ['setTimeout'] });
      store.state = 'refuses';
      await rejects(one);
      const asked = store.batches;
      await rejects(one);
      assert.equal(store.batches, asked);
      store.state = 'answers';
      mock.timers.tick(250);
      await settle();
      assert.equal(await allowed([one], 9), 4);
    });

    it('waits two seconds at most for a store that hangs', async () => {
      const store = new FakeCounterStore();
      const one = node(store);
      mock.timers.enable({ apis: ['setTimeout'] });
      store.state = 'hangs';
      const rejected = Promise.all([rejects(one), rejects(one)]);
      await settle();
      const later = rejects(one);
      mock.timers.tick(2000);
      await rejected;
      await later;
      await rejects(one);
    });

    it('continues with local counters when configured: at most the limit on each node', async () => {
      const store = new FakeCounterStore();
      let reported = 0;
      const onUnavailable = () => void reported++;
      const nodes = [node(store, { onUnavailable }, true), node(store, { onUnavailable }, true)];
      assert.equal(await allowed(nodes.slice(0, 1), 3), 3);
      mock.timers.enable({ apis: ['setTimeout'] });
      store.state = 'refuses';
      // 3 have passed on the first node, none on the second.
      assert.equal(await allowed(nodes.slice(0, 1), 50), 2);
      assert.equal(await allowed(nodes.slice(1), 50), 5);
      assert.equal(reported, 100);
      store.state = 'answers';
      mock.timers.tick(250);
      await settle();
      // The debt was reported to the store: 10 were accepted where 5 were allowed.
      time += 1000;
      assert.equal(await allowed(nodes, 50), 0);
      assert.equal(store.total(), 10);
      time = noon + minute;
      assert.equal(await allowed(nodes, 50), 5);
    });

    it('is used again when it is available, however many requests come meanwhile', async () => {
      const store = new FakeCounterStore();
      let reported = 0;
      const one = node(store, { onUnavailable: () => void reported++ }, true);
      mock.timers.enable({ apis: ['setTimeout'] });
      store.state = 'refuses';
      for (let at = 0; at < 500; at++) await one.take(`before ${at}`);
      store.state = 'answers';
      mock.timers.tick(250);
      for (let round = 0; round < 100; round++) {
        if (round === 50) reported = 0;
        for (let at = 0; at < 10; at++) void one.take(`meanwhile ${round} ${at}`);
        await settle(1);
      }
      assert.equal(reported, 0, 'decided without the store');
      await settle();
      assert.equal(store.total(), 1500, 'all have been reported');
    });

    it('receives what was accepted before it grants anything', async () => {
      const store = new FakeCounterStore();
      const one = node(store, {}, true);
      mock.timers.enable({ apis: ['setTimeout'] });
      store.state = 'refuses';
      for (let at = 0; at < 500; at++) await one.take(`other ${at}`);
      assert.equal(await allowed([one], 9), 5);
      store.state = 'answers';
      mock.timers.tick(250);
      // Once the first debt is paid, this node uses the store again.
      while (store.total() < 200) await settle(1);
      time += 1;
      assert.equal(await allowed([one], 9), 0);
      assert.equal(store.total(), 505);
    });
  });
});

/** Lets pending promises and immediates run. */
async function settle(rounds = 10): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise((resolve) => setImmediate(resolve));
}
