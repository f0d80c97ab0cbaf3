import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { HashPool } from './hash-pool.ts';

/** Of the password `pw`; about 60 ms of work. */
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

it('passwords are checked beside the event loop', async () => {
  const checks = pool();
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
  // On a machine that is full any thread has to wait, but not for as long as all of the checks take.
  assert.ok(longest < (last - begin) / 2, `the event loop stood for ${longest} of ${last - begin} ms`);
});

it('what waits is bounded, for each client too', async () => {
  const checks = pool({ threads: 1, maxWaiting: 4 });
  const ask = (client: string) => checks.check(right(), hash, client);
  const results = await Promise.all([ask('a'), ask('a'), ask('a'), ask('a'), ask('b'), ask('b'), ask('b')]);
  assert.deepEqual(results, [true, true, true, 'busy', true, true, 'busy']);
  assert.equal(await ask('a'), true);
});

it('a client that guesses passwords delays another client by two checks', async () => {
  const checks = pool({ threads: 1, maxWaiting: 200 });
  const order: string[] = [];
  const ask = (client: string, password: string) =>
    checks.check(Buffer.from(password), hash, client).then(() => order.push(client));
  const guesses = Array.from({ length: 20 }, (_, at) => ask('guesser', `guess ${at}`));
  await ask('good', 'pw');
  // The one that runs, and the next one in turn.
  assert.deepEqual(order, ['guesser', 'guesser', 'good']);
  await Promise.all(guesses);
});

it('nothing waits for longer than it may', async () => {
  const checks = pool({ threads: 1, maxWait: 20 });
  await checks.check(right(), hash, 'a');
  const results = await Promise.all([1, 2, 3].map(() => checks.check(right(), hash, 'a')));
  assert.deepEqual(results, [true, 'busy', 'busy']);
});

it('a thread that has rested ends, and another one takes its place', async () => {
  const checks = pool({ threads: 1, idleAfter: 1 });
  for (let round = 0; round < 3; round++) {
    assert.equal(await checks.check(right(), hash, 'a'), true);
    const deadline = Date.now() + 5000;
    while (checks.threads > 0 && Date.now() < deadline) await new Promise(setImmediate);
    assert.equal(checks.threads, 0);
  }
});

it('a pool that is closed answers what waits, and takes no more', async () => {
  const checks = pool({ threads: 1 });
  const waiting = [1, 2, 3].map(() => checks.check(right(), hash, 'a'));
  checks.close();
  assert.deepEqual(await Promise.all(waiting), ['busy', 'busy', 'busy']);
  assert.equal(await checks.check(right(), hash, 'a'), 'busy');
});
