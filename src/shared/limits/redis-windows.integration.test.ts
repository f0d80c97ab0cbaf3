import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { leastTime } from '../../../test/support/least-time.ts';
import { skipWithoutRedis, startRedis, type TestRedis } from '../../../test/support/redis.ts';
import { until } from '../../../test/support/until.ts';
import { LimiterUnavailable, type WindowLimiter, type WindowLimiterOptions } from '../../plugin-sdk/limits.ts';
import type { RedisOptions } from '../../plugin-sdk/redis-options.ts';
import { createRedisWindows } from './redis-windows.ts';

const minute = 60_000;
const noon = Date.UTC(2026, 10, 21, 12);

describe('windows in Redis', { skip: skipWithoutRedis() }, () => {
  let redis: TestRedis;
  let namespaces = 0;
  const opened: WindowLimiter[] = [];

  before(async () => {
    redis = await startRedis();
  });
  afterEach(() => {
    for (const limiter of opened.splice(0)) limiter.close();
  });
  after(() => redis.stop());

  function server(fields: Partial<RedisOptions> = {}): RedisOptions {
    const { host, port } = redis;
    const none = { username: null, password: null, database: 0, ssl: false, ssl_verify: false, server_name: null };
    return { host, port, timeout: 500, ...none, ...fields };
  }

  function limiter(options: Partial<WindowLimiterOptions>): WindowLimiter {
    const made = createRedisWindows({
      namespace: `test-${namespaces}`,
      limits: [{ period: 'minute', limit: 5 }],
      policy: 'redis',
      zone: 'unused',
      redis: server(),
      ...options,
    });
    opened.push(made);
    return made;
  }

  function separate(options: Partial<WindowLimiterOptions> = {}): WindowLimiter {
    namespaces++;
    return limiter(options);
  }

  /** As two nodes: `timeout` is part of a connection's identity. */
  function twoNodes(options: Partial<WindowLimiterOptions>): readonly [WindowLimiter, WindowLimiter] {
    namespaces++;
    return [limiter(options), limiter({ ...options, redis: server({ timeout: 501 }) })];
  }

  async function allowed(limiters: readonly WindowLimiter[], requests: number, key = 'k'): Promise<number> {
    const all = Array.from({ length: requests }, (_, at) => limiters[at % limiters.length]?.take(key));
    return (await Promise.all(all)).filter((verdict) => verdict?.allowed).length;
  }

  it('accepts exactly the limit of simultaneous requests on two nodes', async () => {
    const nodes = twoNodes({ limits: [{ period: 'hour', limit: 100 }], now: () => noon });
    assert.equal(await allowed(nodes, 500), 100);
    assert.equal(await allowed(nodes, 50, 'another key'), 50);
  });

  it('accepts exactly the limit on each side of the edge of a window', async () => {
    let time = noon - 200;
    const nodes = twoNodes({ limits: [{ period: 'minute', limit: 20 }], now: () => time++ });
    assert.equal(await allowed(nodes, 400), 40);
  });

  it('uses the clock of Redis', async () => {
    const nodes = twoNodes({ limits: [{ period: 'second', limit: 20 }] });
    const started = secondOf(redis);
    const end = Date.now() + 1200;
    let passed = 0;
    while (Date.now() < end) passed += await allowed(nodes, 50);
    const windows = secondOf(redis) - started + 1;
    assert.ok(passed <= windows * 20 && passed >= (windows - 1) * 20, `${passed} in ${windows} windows`);
  });

  it('takes from all windows or from none', async () => {
    const limits = [
      { period: 'minute', limit: 5 },
      { period: 'hour', limit: 3 },
    ] as const;
    let now = noon;
    const node = separate({ limits, now: () => now });
    assert.equal(await allowed([node], 4), 3);
    const refused = await node.take('k');
    assert.deepEqual(refused, {
      allowed: false,
      violated: 1,
      windows: [
        { period: 'minute', limit: 5, remaining: 2, reset: 60 },
        { period: 'hour', limit: 3, remaining: 0, reset: 3600 },
      ],
    });
    now += 2 * minute;
    assert.equal((await node.take('k')).violated, 1);
    now = noon + 60 * minute;
    assert.equal((await node.take('k')).allowed, true);
  });

  it('takes the whole cost of a request or nothing; adds above the limit; peeks without taking', async () => {
    const node = separate({ limits: [{ period: 'minute', limit: 10 }], now: () => noon });
    const remaining = async (verdict: ReturnType<WindowLimiter['take']>) => (await verdict).windows[0]?.remaining;
    assert.equal(await remaining(node.peek('k')), 10);
    assert.equal(await remaining(node.take('k', 8)), 2);
    assert.equal((await node.take('k', 3)).allowed, false);
    assert.equal((await node.peek('k')).allowed, true);
    assert.equal(await remaining(node.add('k', 7)), 0);
    assert.equal((await node.peek('k')).allowed, false);
  });

  it('agrees with the calendar on months and years', async () => {
    const limits = [
      { period: 'month', limit: 1e9 },
      { period: 'year', limit: 1e9 },
    ] as const;
    let now = 0;
    const node = separate({ limits, now: () => now });
    const instants = [0, -1, 1].flatMap((offset) =>
      [1970, 1999, 2000, 2024, 2026, 2100, 2399].flatMap((year) =>
        Array.from({ length: 12 }, (_, month) => Date.UTC(year, month, 1) + offset),
      ),
    );
    for (const instant of instants.filter((one) => one >= 0)) {
      now = instant;
      const date = new Date(instant);
      const ends = [
        Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1),
        Date.UTC(date.getUTCFullYear() + 1, 0, 1),
      ];
      const { windows } = await node.peek(`at ${instant}`);
      const expected = ends.map((end) => Math.max(1, Math.ceil((end - instant) / 1000)));
      assert.deepEqual(
        windows.map((window) => window.reset),
        expected,
        date.toISOString(),
      );
    }
  });

  it('counts the remaining part of the previous window when windows slide', async () => {
    let now = noon;
    const node = separate({ limits: [{ period: 'minute', limit: 10 }], windowType: 'sliding', now: () => now });
    assert.equal(await allowed([node], 12), 10);
    now = noon + minute;
    assert.equal(await allowed([node], 1), 0);
    now = noon + minute + minute / 2;
    assert.equal(await allowed([node], 12), 5);
    const refused = await node.take('k');
    assert.deepEqual(refused.windows, [{ period: 'minute', limit: 10, remaining: 0, reset: 6 }]);
    now += 6000;
    assert.equal(await allowed([node], 3), 1);
    now = noon + 4 * minute;
    assert.equal(await allowed([node], 12), 10);
  });

  it('does not open a window again when the clock is set back by a little', async () => {
    let now = noon;
    const node = separate({ now: () => now });
    assert.equal(await allowed([node], 9), 5);
    now = noon - 5;
    assert.equal(await allowed([node], 9), 0);
    now = noon - 120 * minute;
    assert.equal(await allowed([node], 9), 5);
  });

  it('leaves no key without an expiry', async () => {
    const node = separate({
      limits: [
        { period: 'second', limit: 5 },
        { period: 'minute', limit: 9 },
      ],
    });
    await node.take('k');
    const ttl = Number(redis.command('PTTL', `test-${namespaces}:k`));
    assert.ok(ttl > 0 && ttl <= minute + 1000, String(ttl));
  });

  it('continues when the scripts of the server are flushed', async () => {
    const node = separate({ now: () => noon });
    await node.take('k');
    redis.command('SCRIPT', 'FLUSH');
    assert.equal(await allowed([node], 9), 4);
  });

  it('separates the keys of clients, and shortens long ones', async () => {
    const node = separate({ now: () => noon });
    for (const key of ['', 'a b\r\nFLUSHALL\r\n', 'ü{x}*', 'x'.repeat(5000), 'x'.repeat(5001)]) {
      assert.equal(await allowed([node], 7, key), 5);
    }
    const keys = redis.command('--raw', 'KEYS', `test-${namespaces}:*`).split('\n');
    assert.ok(
      keys.every((key) => key.length < 64),
      keys.join(' '),
    );
  });

  it('uses one connection for all limiters of a server, and closes it with the last one', async () => {
    const name = 'sluicegate';
    const limiters = [separate(), separate(), separate()];
    await Promise.all(limiters.map((one) => one.take('k')));
    const connections = () =>
      redis
        .command('CLIENT', 'LIST')
        .split('\n')
        .filter((line) => line.includes(`name=${name}`));
    assert.equal(connections().length, 1);
    limiters[0]?.close();
    limiters[0]?.close();
    limiters[1]?.close();
    assert.equal((await limiters[2]?.take('k'))?.allowed, true);
    limiters[2]?.close();
    await until(() => connections().length === 0);
  });

  describe('when the server fails', () => {
    it('reports it at once when nothing listens', async () => {
      const node = separate({ redis: server({ port: 1 }) });
      await assert.rejects(async () => node.take('k'), LimiterUnavailable);
    });

    it('dies and comes back', async () => {
      const node = separate({ limits: [{ period: 'hour', limit: 3 }] });
      await node.take('k');
      await redis.kill();
      await rejects(node);
      await redis.restart();
      await heals(node);
      assert.ok((await allowed([node], 9)) <= 3);
    });

    it('hangs: no request waits longer than the timeout, then none waits at all, and it recovers by itself', async () => {
      const node = separate({ limits: [{ period: 'hour', limit: 1000 }] });
      await node.take('k');
      redis.hang();
      try {
        const first = await elapsed(() => Promise.all([rejects(node), rejects(node), rejects(node)]));
        assert.ok(first >= 400 && first < 3000, `${first} ms`);
        const next = await leastTime(250, () => rejects(node));
        assert.ok(next < 250, `${next} ms`);
      } finally {
        redis.resume();
      }
      await heals(node);
    });

    it('hangs before the first connection', async () => {
      redis.hang();
      const node = separate({ redis: server({ timeout: 200 }) });
      try {
        assert.ok((await elapsed(() => rejects(node))) < 2000);
        assert.ok((await leastTime(150, () => rejects(node))) < 150);
      } finally {
        redis.resume();
      }
      await heals(node);
    });

    it('refuses the command: the connection is kept', async () => {
      const node = separate();
      await node.take('k');
      redis.command('CONFIG', 'SET', 'maxmemory', '1');
      try {
        await rejects(node);
      } finally {
        redis.command('CONFIG', 'SET', 'maxmemory', '0');
      }
      assert.equal((await node.take('k')).allowed, true);
    });
  });

  it('leaves a server that became a replica, and finds the one that its name leads to now', async () => {
    const node = separate();
    await node.take('k');
    const connections = (): readonly string[] =>
      redis.command('CLIENT', 'LIST').match(/(?<=^id=)\d+(?=.* name=sluicegate )/gm) ?? [];
    const before = connections();
    redis.command('REPLICAOF', '127.0.0.1', '1');
    try {
      assert.match((await rejects(node)).message, /READONLY/);
    } finally {
      redis.command('REPLICAOF', 'NO', 'ONE');
    }
    await heals(node);
    assert.ok(connections().some((id) => !before.includes(id)));
    assert.ok(before.some((id) => !connections().includes(id)));
  });

  it('supports passwords, users and databases, and reveals no secret when they are wrong', async () => {
    const locked = await startRedis({
      arguments: ['--requirepass', 'correct', '--user', 'gate', 'on', '>horse', '~*', '+@all'],
    });
    try {
      const fields = { port: locked.port };
      const right = separate({ redis: server({ ...fields, password: 'correct', database: 3 }) });
      assert.equal((await right.take('k')).allowed, true);
      assert.equal(locked.command('-a', 'correct', '--no-auth-warning', '-n', '3', 'DBSIZE'), '1');
      const user = separate({ redis: server({ ...fields, username: 'gate', password: 'horse' }) });
      assert.equal((await user.take('k')).allowed, true);
      for (const wrong of [server({ ...fields, password: 'battery' }), server(fields)]) {
        const error = await rejects(separate({ redis: wrong }));
        assert.match(error.message, /WRONGPASS|NOAUTH/);
        assert.doesNotMatch(inspectAll(error), /battery/);
      }
    } finally {
      await locked.stop();
    }
  });

  it('speaks TLS and verifies the server when configured', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluicegate-redis-tls-'));
    const cert = join(directory, 'cert.pem');
    const key = join(directory, 'key.pem');
    const subject = ['-subj', '/CN=redis.example', '-addext', 'subjectAltName=DNS:redis.example'];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', ...subject].concat([
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '1',
      ]),
      { stdio: 'pipe' },
    );
    const secured = await startRedis({ tls: { cert, key } });
    try {
      const fields = { port: secured.port, ssl: true };
      const trusting = separate({ redis: server(fields) });
      assert.equal((await trusting.take('k')).allowed, true);
      const verifying = separate({ redis: server({ ...fields, ssl_verify: true, server_name: 'redis.example' }) });
      assert.match((await rejects(verifying)).message, /self-signed certificate/);
    } finally {
      await secured.stop();
      rmSync(directory, { recursive: true });
    }
  });
});

function secondOf(redis: TestRedis): number {
  return Number(redis.command('TIME').split('\n')[0]);
}

async function rejects(limiter: WindowLimiter): Promise<LimiterUnavailable> {
  try {
    await limiter.take('k');
  } catch (error) {
    assert.ok(error instanceof LimiterUnavailable, String(error));
    return error;
  }
  throw new Error('it should have been rejected');
}

async function heals(limiter: WindowLimiter): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      await limiter.peek('k');
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await setTimeout(20);
    }
  }
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function inspectAll(error: Error): string {
  return JSON.stringify([error.message, error.stack, Object.values(error), String(error.cause)]);
}
