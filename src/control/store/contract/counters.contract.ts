import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LeaseRequest, LeaseWindow } from '../../../shared/limits/lease.ts';
import type { StoreBench } from './store-bench.ts';

const hour = 3_600_000;

function window(key: string, limit: number, fields: Partial<LeaseWindow> = {}): LeaseWindow {
  return { key, windowStart: 60_000, keepFor: hour, limit, previous: null, ...fields };
}

function request(windows: readonly LeaseWindow[], fields: Partial<LeaseRequest> = {}): LeaseRequest {
  return { windows, wanted: 1, unit: 1, force: false, ...fields };
}

export function registerCounterTests(bench: StoreBench): void {
  it('grants the remaining units: all, some or none', async () => {
    const store = await bench.fresh();
    const [whole] = await store.leaseCounters([request([window('a', 10)], { wanted: 6 })]);
    const [part, none] = await store.leaseCounters([
      request([window('a', 10)], { wanted: 6 }),
      request([window('a', 10)], { wanted: 6 }),
    ]);
    assert.deepEqual(whole, { granted: 6, used: [6], before: [0], taken: [6] });
    assert.deepEqual(part, { granted: 4, used: [10], before: [0], taken: [4] });
    assert.deepEqual(none, { granted: 0, used: [10], before: [0], taken: [0] });
  });

  it('takes from all windows alike, or from none', async () => {
    const store = await bench.fresh();
    const windows = [window('a/minute', 5), window('a/hour', 3, { windowStart: 0 })];
    const [first] = await store.leaseCounters([request(windows, { wanted: 4 })]);
    const [second] = await store.leaseCounters([request(windows)]);
    assert.deepEqual([first?.granted, first?.used], [3, [3, 3]]);
    assert.deepEqual([second?.granted, second?.used], [0, [3, 3]]);
  });

  it('grants whole units only', async () => {
    const store = await bench.fresh();
    const [lease] = await store.leaseCounters([request([window('a', 10)], { wanted: 12, unit: 4 })]);
    assert.equal(lease?.granted, 8);
  });

  it('counts past events beyond the limit', async () => {
    const store = await bench.fresh();
    const [lease] = await store.leaseCounters([request([window('a', 2)], { wanted: 5, force: true })]);
    assert.deepEqual(lease, { granted: 5, used: [5], before: [0], taken: [5] });
  });

  it('reports the state without creating a counter', async () => {
    const store = await bench.fresh();
    const [lease] = await store.leaseCounters([request([window('a', 2)], { wanted: 0 })]);
    assert.deepEqual(lease, { granted: 0, used: [0], before: [0], taken: [0] });
    assert.deepEqual(await store.readCounters(['a']), []);
  });

  it('applies the share of the previous window that still overlaps', async () => {
    const store = await bench.fresh();
    await store.leaseCounters([request([window('a', 10, { windowStart: 0 })], { wanted: 8 })]);
    const sliding = window('a', 10, { previous: { windowStart: 0, share: 0.5 } });
    const [lease] = await store.leaseCounters([request([sliding], { wanted: 10 })]);
    assert.deepEqual(lease, { granted: 6, used: [6], before: [8], taken: [6] });
  });

  it('takes only what the node does not hold, and a share of what is left ahead', async () => {
    const store = await bench.fresh();
    const windows = [
      window('a/minute', 100, { held: 0, ahead: 50 }),
      window('a/hour', 1000, { windowStart: 0, held: 3, ahead: 20 }),
    ];
    await store.leaseCounters([request([window('a/hour', 1000, { windowStart: 0 })], { wanted: 3 })]);
    const [lease] = await store.leaseCounters([request(windows, { wanted: 4, share: 0.25 })]);
    // 4, and a quarter of 96; 1 more than is held, and 20.
    assert.deepEqual(lease, { granted: 4, used: [28, 24], before: [0, 0], taken: [28, 21] });
    const [only] = await store.leaseCounters([request(windows, { wanted: 0, share: 0.25 })]);
    assert.deepEqual(only, { granted: 0, used: [46, 44], before: [0, 0], taken: [18, 20] });
    const [rest] = await store.leaseCounters([
      request([window('a/minute', 100, { held: 10, ahead: 50 })], { wanted: 3, share: 0.5 }),
    ]);
    // Half of 54; it holds 7 of them.
    assert.deepEqual(rest?.taken, [20]);
  });

  it('grants what a node holds even if nothing else is left, and nothing ahead then', async () => {
    const store = await bench.fresh();
    await store.leaseCounters([request([window('a', 5)], { wanted: 5 })]);
    const [lease] = await store.leaseCounters([
      request([window('a', 5, { held: 2, ahead: 100 })], { wanted: 4, share: 1 }),
    ]);
    assert.deepEqual(lease, { granted: 2, used: [5], before: [0], taken: [0] });
  });

  it('takes back what was not used, never more than was counted', async () => {
    const store = await bench.fresh();
    const back = (wanted: number) => request([window('a', 10)], { wanted, force: true });
    await store.leaseCounters([request([window('a', 10)], { wanted: 10 })]);
    const [some, next] = await store.leaseCounters([back(-4), request([window('a', 10)], { wanted: 9 })]);
    assert.deepEqual([some?.used, next?.granted, next?.used], [[6], 4, [10]]);
    const [all] = await store.leaseCounters([back(-25)]);
    assert.deepEqual([all?.taken, all?.used], [[-10], [0]]);
    assert.deepEqual(await store.readCounters(['a']), [{ key: 'a', windowStart: 60_000, used: 0 }]);
  });

  it('keeps windows, keys and limits apart, and survives the end of the store', async () => {
    const place = await bench.newPlace();
    const store = await bench.open(place);
    await store.migrate();
    const wishes = [window('a', 5), window('a', 5, { windowStart: 120_000 }), window("b'\n\\%", 5)];
    await store.leaseCounters(wishes.map((wish, at) => request([wish], { wanted: at + 1 })));
    const after = await bench.open(place);
    assert.deepEqual(await after.readCounters(["b'\n\\%", 'a', 'nobody']), [
      { key: 'a', windowStart: 60_000, used: 1 },
      { key: 'a', windowStart: 120_000, used: 2 },
      { key: "b'\n\\%", windowStart: 60_000, used: 3 },
    ]);
  });

  it('lets exactly the limit pass when several nodes ask at once', async () => {
    const place = await bench.newPlace();
    const nodes = [await bench.open(place), await bench.open(place)];
    for (const node of nodes) await node.migrate();
    // Keys in opposite orders: nodes that locked them in that order would deadlock.
    const keys = ['k1', 'k2', 'k3', 'k4'];
    const batches = Array.from({ length: 60 }, (_, at) => {
      const ordered = at % 2 === 0 ? keys : keys.toReversed();
      return nodes[at % nodes.length]?.leaseCounters(
        ordered.map((key) => request([window(key, 50), window(`${key}/hour`, 70)], { wanted: (at % 3) + 1 })),
      );
    });
    const granted = (await Promise.all(batches)).map((leases) => leases?.map((lease) => lease.granted) ?? []);
    const total = granted.flat().reduce((sum, one) => sum + one, 0);
    assert.equal(total, keys.length * 50);
    const counted = await nodes[0]?.readCounters(keys);
    assert.deepEqual(
      counted?.map((counter) => counter.used),
      [50, 50, 50, 50],
    );
  });

  it('counts while another transaction writes entities', async () => {
    const store = await bench.fresh();
    const versionBefore = await store.version();
    const { result } = await store.write(async () => {
      // On SQLite the lock is the writer's until it commits, so the batch is not waited for here.
      return { batch: store.leaseCounters([request([window('a', 5)])]) };
    });
    assert.equal((await result.batch)[0]?.granted, 1);
    assert.equal(await store.version(), versionBefore);
  });

  it('resets counters', async () => {
    const store = await bench.fresh();
    await store.leaseCounters([request([window('a', 5), window('b', 5)], { wanted: 5 })]);
    await store.resetCounters([
      { key: 'a', windowStart: 60_000 },
      { key: 'nobody', windowStart: 0 },
    ]);
    const used = (await store.readCounters(['a', 'b'])).map((counter) => counter.used);
    assert.deepEqual(used, [0, 5]);
  });

  it('removes expired counters', async () => {
    const store = await bench.fresh();
    const over = window('old', 5, { keepFor: 0 });
    await store.leaseCounters([request([over]), request([window('new', 5)])]);
    assert.equal(await store.deleteExpiredCounters(), 1);
    assert.deepEqual(
      (await store.readCounters(['old', 'new'])).map((counter) => counter.key),
      ['new'],
    );
  });

  it('holds a batch of a thousand counters', async () => {
    const store = await bench.fresh();
    const requests = Array.from({ length: 1000 }, (_, at) => request([window(`k${at}`, 1)]));
    const leases = await store.leaseCounters(requests);
    assert.ok(leases.every((lease) => lease.granted === 1));
  });
}
