import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { HashPool } from './hash-pool.ts';

/** Hash of the password `pw`; a check takes about 60 ms. */
const hash =
  '$6$rounds=20000$salt$YtUUKtabx4.8COTlFyS5h7YidrZlIkCR8Ztl9rPqfCbfrwus7C5pwWRzsb6ogX8rbJ71TN6rF06FzJrLLRKOl1';
const right = () => Buffer.from('pw');
const pools: HashPool[] = [];
const pool = (options = {}) => {
  const made = new HashPool(options);
  pools.push(made);
  return made;
};
after(() => {
  for (const one of pools) one.close();
});

it('checks passwords outside of the event loop', async () => {
  const checks = pool({ maxWait: 60_000 });
  assert.equal(await checks.check(right(), hash, 'a'), true);
  const begin = performance.now();
  let last = begin;
  let longest = 0;
  let checking = true;
  const results = Promise.all(Array.from({ length: 20 }, (_, at) => checks.check(Buffer.from(`${at}`), hash, 'a')));
  void results.finally(() => {
    checking = false;
  });
  while (checking) {
    await new Promise(setImmediate);
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }
  assert.deepEqual(new Set(await results), new Set([false]));
  // On an overloaded machine any thread waits, but not as long as all checks take.
  assert.ok(longest < (last - begin) / 2, `the event loop stood for ${longest} of ${last - begin} ms`);
});

it('bounds the queue in total and per client', async () => {
  const checks = pool({ threads: 1, maxWaiting: 4 });
  const ask = (client: string) => checks.check(right(), hash, client);
  const results = await Promise.all([ask('a'), ask('a'), ask('a'), ask('a'), ask('b'), ask('b'), ask('b')]);
  assert.deepEqual(results, [true, true, true, 'busy', true, true, 'busy']);
  assert.equal(await ask('a'), true);
});

it('delays other clients by at most two checks when one client guesses passwords', async () => {
  const checks = pool({ threads: 1, maxWaiting: 200 });
  const order: string[] = [];
  const ask = (client: string, password: string) =>
    checks.check(Buffer.from(password), hash, client).then(() => order.push(client));
  const guesses = Array.from({ length: 20 }, (_, at) => ask('guesser', `guess ${at}`));
  await ask('good', 'pw');
  // The running one, and the next one in the queue.
  assert.deepEqual(order, ['guesser', 'guesser', 'good']);
  await Promise.all(guesses);
});

it('fails checks that wait longer than the timeout', async () => {
  const checks = pool({ threads: 1, maxWait: 20 });
  await checks.check(right(), hash, 'a');
  const results = await Promise.all([1, 2, 3].map(() => checks.check(right(), hash, 'a')));
  assert.deepEqual(results, [true, 'busy', 'busy']);
});

it('ends an idle thread, and starts another one when needed', async () => {
  const checks = pool({ threads: 1, idleAfter: 1 });
  for (let round = 0; round < 3; round++) {
    assert.equal(await checks.check(right(), hash, 'a'), true);
    const deadline = Date.now() + 5000;
    while (checks.threads > 0 && Date.now() < deadline) await new Promise(setImmediate);
    assert.equal(checks.threads, 0);
  }
});

it('answers waiting checks on close, and accepts no more', async () => {
  const checks = pool({ threads: 1 });
  const waiting = [1, 2, 3].map(() => checks.check(right(), hash, 'a'));
  checks.close();
  assert.deepEqual(await Promise.all(waiting), ['busy', 'busy', 'busy']);
  assert.equal(await checks.check(right(), hash, 'a'), 'busy');
});
