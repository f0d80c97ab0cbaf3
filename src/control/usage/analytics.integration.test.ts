import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { countedRequest, named, person } from '../../data/usage/analytics.fixture.ts';
import { readUsage } from '../../shared/usage/usage.ts';
import type { Store } from '../store/store.ts';
import type { UsageResolution } from '../store/usage-store.ts';
import { day, hour, minute, openTestStore, startTestNode, type TestNode, unreliable } from './analytics.fixture.ts';

const noon = Date.UTC(2026, 5, 1, 12);
const route = named('r');
const plain = (ended: number) => countedRequest({ ended, route });

async function stored(store: Store, resolution: UsageResolution) {
  const rows = await store.readUsage({ resolution, from: 0, to: 1e15, limit: 10_000 });
  return rows.map((row) => ({ ...row, requests: readUsage(row.data)?.requests ?? Number.NaN }));
}

async function storedRequests(store: Store, resolution: UsageResolution): Promise<number> {
  return (await stored(store, resolution)).reduce((sum, { requests }) => sum + requests, 0);
}

async function seenRequests(node: TestNode, resolution: UsageResolution = 'minute'): Promise<number> {
  const filter = { resolution, from: 0, to: 1e15 };
  const [groups] = await node.analytics.read((reader) => reader.all(filter, [{ by: [], time: null }]));
  const [total] = groups?.values() ?? [];
  return total?.usage.requests ?? 0;
}

/** Advances the clock, with the node's timers. */
async function pass(node: TestNode, milliseconds: number): Promise<void> {
  node.now += milliseconds;
  await node.analytics.tick();
}

describe('what workers have counted', () => {
  it('are visible at once, and in the store when the minute is over', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon, workers: 2 });
    node.count(0, plain, 3);
    node.count(1, plain, 4);
    for (const resolution of ['minute', 'hour', 'day'] as const) assert.equal(await seenRequests(node, resolution), 7);
    await pass(node, 10_000);
    assert.equal(await storedRequests(place.store, 'minute'), 0);
    await pass(node, 50_000);
    for (const resolution of ['minute', 'hour', 'day'] as const) {
      const [row] = await stored(place.store, resolution);
      assert.equal(row?.requests, 7);
      assert.equal(row?.start, resolution === 'day' ? noon - 12 * hour : noon);
      assert.equal(await seenRequests(node, resolution), 7);
    }
  });

  it('are written when a minute is over', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon });
    node.analytics.start();
    node.count(0, plain, 3);
    node.now += minute;
    await until(async () => (await storedRequests(place.store, 'minute')) === 3);
    await node.stop();
  });

  it('are exact for any order of collections, requests and reads', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon, workers: 3 });
    let counted = 0;
    for (let turn = 0; turn < 60; turn++) {
      for (const worker of [0, 1, 2]) {
        const times = (turn * 7 + worker * 5) % 11;
        node.count(worker, (ended) => countedRequest({ ended, route: named(`r${turn % 7}`) }), times);
        counted += times;
      }
      if (turn % 3 === 0) assert.equal(await seenRequests(node), counted);
      // Two at once: one waits for the other.
      await Promise.all([pass(node, 13_000), pass(node, 0)]);
    }
    assert.equal(await seenRequests(node), counted);
    await node.stop();
    for (const resolution of ['minute', 'hour', 'day'] as const) {
      assert.equal(await storedRequests(place.store, resolution), counted);
    }
  });

  it('are not lost when a worker dies, whatever message it received before', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon, workers: 2, readTimeout: 300 });
    const [worker] = node.workers;
    assert.ok(worker !== undefined);
    for (const received of [false, true]) {
      node.count(0, plain, 5);
      if (received) {
        // It received the message to switch, continued for a while, and dies before it answers.
        node.stuck.add(0);
        const read = seenRequests(node);
        node.count(0, plain, 2);
        await read;
        node.count(0, plain, 2);
        node.stuck.delete(0);
      } else node.count(0, plain, 4);
      worker.alive = false;
      node.analytics.ended(0);
      worker.replace();
      worker.alive = true;
      node.count(0, plain, 1);
    }
    assert.equal(await seenRequests(node), 20);
    assert.equal(await seenRequests(node), 20);
  });

  it('of a blocked worker are counted when it answers, in their minute, and the others do not wait', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon, workers: 2, readTimeout: 300 });
    node.stuck.add(0);
    node.count(0, plain, 3);
    node.count(1, plain, 4);
    assert.equal(await seenRequests(node), 4);
    node.count(1, plain, 1);
    node.now += minute;
    assert.equal(await seenRequests(node), 5);
    node.stuck.delete(0);
    node.workers[0]?.listen((serial, names) => node.analytics.turned(0, serial, names));
    assert.equal(await seenRequests(node), 8);
    await node.stop();
    assert.deepEqual(
      (await stored(place.store, 'minute')).map(({ start, requests }) => [start, requests]),
      [[noon, 8]],
    );
  });

  it('of a worker that has died are not counted twice when its answer is late', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon, readTimeout: 300 });
    node.stuck.add(0);
    node.count(0, plain, 3);
    await seenRequests(node);
    const late: (() => void)[] = [];
    node.workers[0]?.listen((serial, names) => late.push(() => node.analytics.turned(0, serial, names)));
    node.count(0, plain, 2);
    node.analytics.ended(0);
    node.workers[0]?.replace();
    node.stuck.delete(0);
    node.count(0, plain, 1);
    for (const answer of late) answer();
    assert.equal(await seenRequests(node), 6);
  });
});

describe('usage in the store', () => {
  it('continues after a restart, within the same minute, hour and day', async () => {
    await using place = await openTestStore();
    const first = startTestNode({ store: place.store, now: noon + 10_000 });
    first.count(0, plain, 3);
    await first.stop();
    const store = await place.reopen();
    const second = startTestNode({ store, now: noon + 30_000 });
    assert.equal(await seenRequests(second), 3);
    second.count(0, plain, 4);
    assert.equal(await seenRequests(second), 7);
    await second.stop();
    for (const resolution of ['minute', 'hour', 'day'] as const) {
      assert.deepEqual(
        (await stored(store, resolution)).map(({ requests }) => requests),
        [7],
      );
    }
  });

  it('of several nodes is kept apart, and seen as one by each', async () => {
    await using place = await openTestStore();
    const other = await place.reopen();
    const one = startTestNode({ store: place.store, now: noon, node: 'n1' });
    const two = startTestNode({ store: other, now: noon, node: 'n2' });
    one.count(0, plain, 3);
    two.count(0, plain, 4);
    await Promise.all([pass(one, minute), pass(two, minute)]);
    one.count(0, plain, 1);
    assert.equal(await seenRequests(one), 8);
    assert.equal(await seenRequests(two), 7);
    assert.equal((await stored(place.store, 'minute')).length, 2);
  });

  it('is right when the clock is set back or forth by an hour', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon + 30 * minute });
    for (const step of [minute, -hour, minute, hour, 2 * hour, -2 * hour, minute]) {
      node.count(0, plain, 2);
      await pass(node, step);
    }
    await node.stop();
    assert.equal(await storedRequests(place.store, 'day'), 14);
    assert.equal(await storedRequests(place.store, 'hour'), 14);
    const minutes = await stored(place.store, 'minute');
    assert.deepEqual(
      minutes.map(({ start, requests }) => [(start - noon) / minute, requests]),
      [
        [-29, 2],
        [-28, 2],
        [30, 2],
        [31, 2],
        [32, 4],
        [152, 2],
      ],
    );
  });

  it('is written later when the store was unavailable, and each outage is logged once', async () => {
    await using place = await openTestStore();
    const store = unreliable(place.store);
    const node = startTestNode({ store, now: noon });
    store.fault = 'unavailable';
    for (let at = 0; at < 5; at++) {
      node.count(0, plain, 2);
      await pass(node, minute);
    }
    assert.equal(node.warnings.length, 1);
    store.fault = 'none';
    node.count(0, plain, 1);
    await pass(node, minute);
    assert.deepEqual(
      (await stored(place.store, 'minute')).map(({ requests }) => requests),
      [2, 2, 2, 2, 2, 1],
    );
    assert.equal(await storedRequests(place.store, 'hour'), 11);
    assert.equal(node.warnings.length, 2);
  });

  it('is not counted twice when the outcome of a successful write is lost', async () => {
    await using place = await openTestStore();
    const store = unreliable(place.store);
    const node = startTestNode({ store, now: noon });
    store.fault = 'answer lost';
    node.count(0, plain, 3);
    await pass(node, minute);
    store.fault = 'none';
    node.count(0, (ended) => countedRequest({ ended: ended - minute, route }), 2);
    await pass(node, minute);
    for (const resolution of ['minute', 'hour', 'day'] as const) {
      assert.equal(await storedRequests(place.store, resolution), 5);
    }
  });

  it('does not block later usage when the store refuses it', async () => {
    await using place = await openTestStore();
    const store = unreliable(place.store);
    const node = startTestNode({ store, now: noon });
    node.count(0, plain, 3);
    store.fault = 'refuses';
    await pass(node, minute);
    store.fault = 'none';
    node.count(0, plain, 2);
    await pass(node, minute);
    assert.equal(await storedRequests(place.store, 'hour'), 2);
    assert.equal(node.analytics.ledger.dropped, 3);
    assert.ok(node.warnings.some((warning) => warning.includes('no database takes')));
  });

  it('is dropped from the oldest on when the store is unavailable for a day, which is logged', async () => {
    await using place = await openTestStore();
    const store = unreliable(place.store);
    const node = startTestNode({ store, now: noon });
    store.fault = 'unavailable';
    for (let at = 0; at < 1500; at++) {
      node.count(0, plain, 1);
      if (at % 50 === 49) await node.analytics.tick();
      node.now += minute;
    }
    assert.ok(node.analytics.ledger.waiting <= 1440);
    assert.equal(node.analytics.ledger.dropped, 60);
    store.fault = 'none';
    await node.stop();
    assert.equal(await storedRequests(place.store, 'day'), 1440);
    assert.ok(node.warnings.some((warning) => warning.includes('missing')));
  });

  it('has no more series in a minute, an hour and a day than are allowed, and no request is lost', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon, workers: 2, settings: { maxSeries: 100 } });
    let counted = 0;
    for (let at = 0; at < 10; at++) {
      for (let number = 0; number < 90; number++) {
        const consumer = person(`c${at}-${number}`);
        node.count(number % 2, (ended) => countedRequest({ ended, route, consumer, status: 200 + (number % 9) }));
        counted++;
      }
      await pass(node, 20_000);
    }
    await node.stop();
    for (const resolution of ['minute', 'hour', 'day'] as const) {
      const rows = await stored(place.store, resolution);
      const starts = new Set(rows.map(({ start }) => start));
      for (const start of starts) assert.ok(rows.filter((row) => row.start === start).length <= 105);
      assert.equal(await storedRequests(place.store, resolution), counted);
    }
  });

  it('is removed when its time is over, by resolution', async () => {
    await using place = await openTestStore();
    const settings = { retention: { minute: hour, hour: day, day: 0 } };
    const node = startTestNode({ store: place.store, now: noon, settings });
    for (let at = 0; at < 48; at++) {
      node.count(0, plain, 1);
      await pass(node, hour);
    }
    assert.equal((await stored(place.store, 'minute')).length, 1);
    assert.equal((await stored(place.store, 'hour')).length, 24);
    assert.equal(await storedRequests(place.store, 'day'), 48);
  });

  it('is read no further than a page by time needs, in both directions', async () => {
    await using place = await openTestStore();
    let read = 0;
    const store: Store = {
      ...place.store,
      readUsage: async (query) => {
        const rows = await place.store.readUsage(query);
        read += rows.length;
        return rows;
      },
    };
    const node = startTestNode({ store, now: noon });
    for (let at = 0; at < 100; at++) {
      for (let number = 0; number < 50; number++) {
        node.count(0, (ended) => countedRequest({ ended, route: named(`r${number}`) }));
      }
      await pass(node, minute);
    }
    const filter = { resolution: 'minute', from: noon, to: node.now } as const;
    const grouping = { by: ['route'], time: 'minute' } as const;
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = [];
      let after: { readonly start: number; readonly id: string } | undefined;
      for (;;) {
        read = 0;
        const place = after === undefined ? {} : { after };
        const page = await node.analytics.read((reader) =>
          reader.page(filter, grouping, { order, skip: 0, limit: 70, ...place }),
        );
        assert.ok(read <= 1000, `${read} rows for a page of 70`);
        seen.push(...page.map(({ start, id }) => `${start} ${id}`));
        after = page.at(-1);
        if (after === undefined) break;
      }
      assert.equal(seen.length, 5000);
      assert.deepEqual(seen, order === 'asc' ? seen.toSorted() : seen.toSorted().reverse());
      assert.equal(new Set(seen).size, 5000);
    }
  });

  it('keeps names of ids with a row by the day, and not of all consumers', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon });
    const ids = Array.from({ length: 1000 }, (_, at) => `c${at}`);
    for (const [at, id] of ids.entries()) {
      node.count(0, (ended) => countedRequest({ ended, route, consumer: person(id) }));
      if (at % 50 === 49) await pass(node, minute);
    }
    await node.stop();
    const kept = await place.store.readUsageNames('consumer', ids);
    assert.ok(kept.length > 10 && kept.length <= 25, `${kept.length}`);
    assert.equal((await place.store.readUsageNames('route', ['r'])).length, 1);
  });

  it('keeps the names of ids, the last one after a rename', async () => {
    await using place = await openTestStore();
    const node = startTestNode({ store: place.store, now: noon });
    node.count(0, (ended) => countedRequest({ ended, route, consumer: person('c') }));
    await pass(node, minute);
    node.count(0, (ended) => countedRequest({ ended, route: { id: 'r', name: 'new\0' } }));
    await pass(node, minute);
    const [name] = await place.store.readUsageNames('route', ['r']);
    assert.deepEqual([name?.name, name?.seen], ['new', noon + 2 * minute]);
    const [user] = await place.store.readUsageNames('consumer', ['c']);
    assert.equal(user?.name, 'user c');
  });
});
