import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slowCheck, withSlowChecksOffThread } from './slow-check.ts';

function rig() {
  const calls: string[] = [];
  const check = slowCheck<string, string>({
    key: (input) => `check ${input}`,
    isFast: (input) => input.length < 4,
    now: (input) => {
      calls.push(`now ${input}`);
      return `${input} now`;
    },
    offThread: async (input) => {
      calls.push(`apart ${input}`);
      if (input === 'broken') throw new Error('it took too long');
      return `${input} apart`;
    },
    failed: (reason) => reason,
  });
  return { calls, check };
}

test('a slow check runs off the thread, and the work starts over with its result', async () => {
  const { calls, check } = rig();
  const work = async () => [check('small'), check('one'), check('large')];
  assert.deepEqual(await withSlowChecksOffThread(work), ['small apart', 'one now', 'large apart']);
  assert.deepEqual(
    calls.filter((call) => call.startsWith('apart')),
    ['apart small', 'apart large'],
  );
  assert.deepEqual(await withSlowChecksOffThread(async () => check('small')), 'small apart', 'nothing is kept');
  assert.equal(calls.filter((call) => call === 'apart small').length, 2);
});

test('outside of a request it runs at once; a failure has a result; other errors are rethrown', async () => {
  const { check } = rig();
  assert.equal(check('large'), 'large now');
  assert.equal(await withSlowChecksOffThread(async () => check('broken')), 'Error: it took too long');
  await assert.rejects(
    withSlowChecksOffThread(() => Promise.reject(new Error('another'))),
    /another/,
  );
  const endless = withSlowChecksOffThread(async () => check(`large ${Math.random()}`));
  await assert.rejects(endless, /slow check/);
});
