import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { skipWithoutRedis, startRedis, type TestRedis } from '../../../../test/support/redis.ts';
import { until } from '../../../../test/support/until.ts';
import type { RedisOptions } from '../../../plugin-sdk/index.ts';
import { entryOf, entryStoreContract, keyOf } from '../store/entry-store.contract.ts';
import { type EntryStore, StoreUnavailable } from '../store/entry-store.ts';
import { purgeLogContract } from '../store/purge-log.contract.ts';
import { redisPurges } from './redis-purges.ts';
import { redisStore } from './redis-store.ts';

const maxBytes = 2 ** 20;
const skip = skipWithoutRedis();
let redis: TestRedis;
let others = 0;

function optionsOf(server: TestRedis, more: Partial<RedisOptions> = {}): RedisOptions {
  const none = { username: null, password: null, database: 0, ssl: false, ssl_verify: false, server_name: null };
  return { host: server.host, port: server.port, timeout: 1000, ...none, ...more };
}

before(async () => {
  if (skip === false) redis = await startRedis();
});
after(async () => {
  if (skip === false) await redis.stop();
});

entryStoreContract('entries in Redis', {
  // A different timeout gives a separate connection, like that of another worker.
  open: (instance, worker) => redisStore(optionsOf(redis, { timeout: 5000 + worker }), { instance, maxBytes }),
  tooLarge: maxBytes + 1,
  skip,
});

purgeLogContract('purges in Redis', {
  open: (instance) => redisPurges(optionsOf(redis), instance),
  tooMany: 300,
  skip,
});

describe('a Redis server', { skip }, () => {
  const opened: EntryStore[] = [];

  function open(server = redis, more: Partial<RedisOptions> = {}, instance = `other-${++others}`): EntryStore {
    const store = redisStore(optionsOf(server, more), { instance, maxBytes });
    opened.push(store);
    return store;
  }

  afterEach(() => {
    for (const store of opened.splice(0)) store.close();
  });

  const name = (suffix: string): string => `sluicegate:proxy-cache:{other-${others}}:${suffix}`;

  it('gives every key a time to live, and removes expired entries from the indexes', async () => {
    const store = open();
    const count = 30;
    for (let at = 0; at < count; at++) {
      await store.put(keyOf(`${at}`), entryOf({ expires: Date.now() + 200, tags: ['t'], url: `http://a/${at}` }));
    }
    const countPersistent = `local count = 0
      for _, key in ipairs(redis.call('KEYS', '*')) do if redis.call('PTTL', key) == -1 then count = count + 1 end end
      return count`;
    assert.equal(redis.command('EVAL', countPersistent, '0'), '0');
    await until(() => redis.command('EXISTS', name(`e:${keyOf('0')}`)) === '0');
    await until(async () => {
      await store.put(keyOf('last'), entryOf({ tags: ['t'] }));
      return redis.command('ZCARD', name('urls')) === '1';
    });
    assert.equal(redis.command('ZCARD', name('ends')), '1');
    assert.equal(redis.command('ZCARD', name('t:t')), '1');
  });

  it('misses if a value has another type, is damaged or too large', async () => {
    const store = open();
    const entry = name(`e:${keyOf('k')}`);
    await store.put(keyOf('k'), entryOf({ text: 'long enough' }));
    const setField = (field: string, value: string): void => void redis.command('HSET', entry, field, value);
    const damages: readonly (() => void)[] = [
      () => setField('b', 'long enougH'),
      () => setField('b', 'long'),
      () => setField('b', 'x'.repeat(maxBytes / 16)),
      () => setField('m', 'SGA1'),
      () => setField('m', 'x'.repeat(200)),
      () => void redis.command('HDEL', entry, 'b'),
      () => void redis.command('HDEL', entry, 'm'),
      () => void redis.command('SET', entry, 'text'),
      () => void redis.command('EVAL', `redis.call('DEL', KEYS[1]) redis.call('RPUSH', KEYS[1], 'x')`, '1', entry),
      () =>
        void redis.command(
          'EVAL',
          `redis.call('SETRANGE', 's', ${maxBytes}, 'x') redis.call('DEL', KEYS[1])
          redis.call('HSET', KEYS[1], 'm', 'm', 'b', redis.call('GET', 's')) redis.call('DEL', 's')`,
          '1',
          entry,
        ),
    ];
    for (const [at, damage] of damages.entries()) {
      damage();
      assert.equal(await store.get(keyOf('k')), null, `damage ${at}`);
      await store.put(keyOf('k'), entryOf({ text: 'long enough' }));
      assert.notEqual(await store.get(keyOf('k')), null, `replaced after damage ${at}`);
    }
    assert.equal(await store.purge({ key: keyOf('k') }), 1);
  });

  it('replaces indexes of another type', async () => {
    const store = open();
    for (const suffix of ['urls', 'ends', 't:t', `f:${keyOf('k')}`]) redis.command('SET', name(suffix), 'text');
    assert.equal(await store.purge({ tag: 't' }), 0);
    assert.equal(await store.purge({ prefix: 'http' }), 0);
    assert.equal(await store.put(keyOf('k'), entryOf({ tags: ['t'] })), true);
    assert.equal(await store.purge({ tag: 't' }), 1);
    await store.put(keyOf('k'), entryOf());
    assert.equal(await store.purge({ prefix: 'http' }), 1);
    assert.equal(await store.acquireLock(keyOf('k'), 1000), null);
    store.releaseLock(keyOf('k'));
  });

  it('makes a caller look again once if the entry was stored since its lookup', async () => {
    const instance = `other-${++others}`;
    const [one, two] = [open(redis, {}, instance), open(redis, { timeout: 1001 }, instance)];
    const key = keyOf('k');
    assert.equal(await two.get(key), null);
    assert.equal(await one.acquireLock(key, 20_000), null);
    await one.put(key, entryOf());
    one.releaseLock(key);
    const wait = await two.acquireLock(key, 20_000);
    assert.equal(await wait?.(5000), 'done');
    assert.notEqual(await two.get(key), null);
    assert.equal(await two.acquireLock(key, 20_000), null, 'it has seen the new entry and fetches another one');
    two.releaseLock(key);
  });

  it('rejects while it is unavailable, at once if that is known, and recovers', async () => {
    const server = await startRedis();
    try {
      const store = open(server);
      await store.put(keyOf('k'), entryOf());
      await server.kill();
      const calls: readonly (() => unknown)[] = [
        () => store.get(keyOf('k')),
        () => store.put(keyOf('k'), entryOf()),
        () => store.purge({ tag: 't' }),
        () => store.acquireLock(keyOf('k'), 1000),
      ];
      await assert.rejects(async () => await store.get(keyOf('k')), StoreUnavailable);
      for (const call of calls) {
        const before = performance.now();
        await assert.rejects(async () => await call(), StoreUnavailable);
        assert.ok(performance.now() - before < 1000);
      }
      store.releaseLock(keyOf('k'));
      await server.restart();
      await until(async () => (await Promise.resolve(store.put(keyOf('k'), entryOf())).catch(() => false)) === true);
      assert.notEqual(await store.get(keyOf('k')), null);
    } finally {
      await server.stop();
    }
  });

  it('that hangs fails after the timeout, and does not block the locks of this worker', async () => {
    const server = await startRedis();
    try {
      const store = open(server, { timeout: 150 });
      assert.equal(await store.acquireLock(keyOf('k'), 20_000), null);
      const follower = await store.acquireLock(keyOf('k'), 20_000);
      server.hang();
      const before = performance.now();
      await assert.rejects(async () => await store.get(keyOf('k')), StoreUnavailable);
      assert.ok(performance.now() - before < 2000);
      store.releaseLock(keyOf('k'));
      assert.equal(await follower?.(5000), 'done');
    } finally {
      server.resume();
      await server.stop();
    }
  });

  it('that refuses a password does not leak it', async () => {
    const server = await startRedis({ arguments: ['--requirepass', 'right-secret'] });
    try {
      await open(server, { password: 'right-secret' }).put(keyOf('k'), entryOf());
      await assert.rejects(
        async () => await open(server, { password: 'wrong-secret' }).get(keyOf('k')),
        (error) =>
          error instanceof StoreUnavailable && !JSON.stringify([error, error.message, error.stack]).includes('secret'),
      );
    } finally {
      await server.stop();
    }
  });

  it('that is out of memory rejects a put', async () => {
    const server = await startRedis({ arguments: ['--maxmemory', '1', '--maxmemory-policy', 'noeviction'] });
    try {
      const store = open(server);
      await assert.rejects(async () => await store.put(keyOf('k'), entryOf()), StoreUnavailable);
      assert.equal(await store.get(keyOf('k')), null);
    } finally {
      await server.stop();
    }
  });

  it('that was flushed is filled again', async () => {
    const store = open();
    await store.put(keyOf('k'), entryOf());
    redis.command('FLUSHALL');
    redis.command('SCRIPT', 'FLUSH');
    assert.equal(await store.get(keyOf('k')), null);
    assert.equal(await store.put(keyOf('k'), entryOf()), true);
    assert.notEqual(await store.get(keyOf('k')), null);
  });
});
