import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { skipWithoutRedis, startRedis, type TestRedis } from '../../../../test/support/redis.ts';
import type { WindowLimiterOptions } from '../../../plugin-sdk/limits.ts';
import { ZoneTable } from '../../zones/zone-table.ts';
import { LocalWindows } from '../local-windows.ts';
import { createSyncedWindows, type SyncedWindows } from './synced-windows.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const minute = 60_000;

describe('windows that nodes exchange through Redis at intervals', { skip: skipWithoutRedis() }, () => {
  let redis: TestRedis;
  let namespaces = 0;
  let time = noon;
  let failures = 0;
  const opened: SyncedWindows[] = [];

  before(async () => {
    redis = await startRedis();
  });
  beforeEach(() => {
    namespaces++;
    time = noon;
    failures = 0;
  });
  afterEach(() => {
    for (const limiter of opened.splice(0)) limiter.close();
  });
  after(() => redis.stop());

  /** The workers of a node, which share memory. They exchange when the test calls it. */
  function node(options: Partial<WindowLimiterOptions> = {}, workers = 1): readonly SyncedWindows[] {
    const memory = new SharedArrayBuffer(65536);
    const none = { username: null, password: null, database: 0, ssl: false, ssl_verify: false, server_name: null };
    return Array.from({ length: workers }, (_, worker) => {
      const table = new ZoneTable(memory, worker);
      const all: WindowLimiterOptions = {
        namespace: `sync-${namespaces}`,
        limits: [{ period: 'minute', limit: 10 }],
        policy: 'redis',
        zone: 'counters',
        redis: { host: redis.host, port: redis.port, timeout: 500, ...none },
        syncRate: 3600,
        now: () => time,
        onUnavailable: () => void failures++,
        ...options,
      };
      const limiter = createSyncedWindows(all, new LocalWindows(table, all), table.identity);
      opened.push(limiter);
      return limiter;
    });
  }

  function one(options: Partial<WindowLimiterOptions> = {}): SyncedWindows {
    return node(options)[0] as SyncedWindows;
  }

  function allowed(limiter: SyncedWindows | undefined, requests: number): number {
    return Array.from({ length: requests }, () => limiter?.take('k').allowed).filter(Boolean).length;
  }

  function remaining(limiter: SyncedWindows | undefined): readonly number[] {
    return limiter?.peek('k').windows.map((window) => window.remaining) ?? [];
  }

  async function exchange(...limiters: readonly SyncedWindows[]): Promise<void> {
    for (const limiter of limiters) await limiter.exchange();
  }

  it('receives what the others have counted, and until then each node takes what it believes to be left', async () => {
    const [a, b] = [one(), one()];
    assert.deepEqual([allowed(a, 6), allowed(b, 2)], [6, 2]);
    await exchange(a, b);
    assert.deepEqual([remaining(a), remaining(b)], [[4], [2]]);
    // Both take one, so that they exchange the key again.
    assert.deepEqual([allowed(a, 1), allowed(b, 1)], [1, 1]);
    await exchange(a, b);
    assert.deepEqual([remaining(a), remaining(b)], [[1], [0]]);
    assert.equal(allowed(b, 5), 0);
  });

  it('counts the requests of a node once, whichever of its workers reports them', async () => {
    const [first, second] = node({}, 2);
    const other = one();
    assert.deepEqual([allowed(first, 3), allowed(second, 2), allowed(other, 1)], [3, 2, 1]);
    for (const limiter of [other, first, second]) await limiter?.exchange();
    assert.deepEqual([remaining(first), remaining(second)], [[4], [4]]);
    allowed(other, 1);
    await other.exchange();
    assert.deepEqual(remaining(other), [3]);
  });

  it('exchanges every window by itself', async () => {
    const limits = [
      { period: 'minute', limit: 10 },
      { period: 'hour', limit: 20 },
    ] as const;
    const [a, b] = [one({ limits }), one({ limits })];
    allowed(a, 4);
    allowed(b, 1);
    time += minute;
    allowed(b, 1);
    await exchange(a, b);
    assert.deepEqual(remaining(b), [9, 14]);
  });

  it('continues without Redis, logs it, and reports everything when it is available again', async () => {
    const [a, b] = [one(), one()];
    await exchange(a, b);
    await redis.kill();
    assert.equal(allowed(a, 7), 7);
    await exchange(a);
    assert.equal(failures, 1);
    assert.equal(allowed(a, 7), 3);
    await redis.restart();
    const deadline = Date.now() + 8000;
    allowed(b, 1);
    while (remaining(b)[0] !== 0) {
      assert.ok(Date.now() < deadline, `${remaining(b)} are left`);
      b.add('k', 0);
      await exchange(a, b);
      await setTimeout(20);
    }
  });

  it('exchanges by itself', async () => {
    const [a, b] = [one({ syncRate: 0.02 }), one({ syncRate: 0.02 })];
    allowed(a, 6);
    const deadline = Date.now() + 8000;
    while ((remaining(b)[0] ?? 0) > 4) {
      assert.ok(Date.now() < deadline);
      b.add('k', 0);
      await setTimeout(5);
    }
    assert.deepEqual(remaining(b), [4]);
  });

  it('leaves nothing in Redis without an expiry', async () => {
    const a = one();
    allowed(a, 1);
    await a.exchange();
    const keys = redis.command('KEYS', `sync-${namespaces}:*`).split('\n');
    assert.equal(keys.length, 1);
    const ttl = Number(redis.command('PTTL', keys[0] ?? ''));
    assert.ok(ttl > 0 && ttl <= 2 * minute, String(ttl));
  });

  it('keeps a bounded number of counts while Redis is unavailable, however many windows begin meanwhile', async () => {
    const server = await startRedis();
    const none = { username: null, password: null, database: 0, ssl: false, ssl_verify: false, server_name: null };
    const unavailable = { host: server.host, port: server.port, timeout: 500, ...none };
    const limiter = one({ limits: [{ period: 'second', limit: 1e9 }], redis: unavailable });
    await server.stop();
    for (let second = 0; second < 5; second++) {
      for (let at = 0; at < 20_000; at++) limiter.take(`${second}-${at}`);
      await limiter.exchange();
      time += 1000;
    }
    failures = 0;
    await limiter.exchange();
    // Each failure represents a script that was to report 100 keys.
    assert.ok(failures > 0 && failures <= 505, `${failures} scripts`);
  });
});
