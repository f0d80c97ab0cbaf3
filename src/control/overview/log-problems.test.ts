import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createErrorLog } from '../../shared/logs/error-log.ts';
import { LogProblems } from './log-problems.ts';

test('lines are grouped by message, with the fields of the last one, from warn on', () => {
  let now = 5_000_000;
  const problems = new LogProblems(() => now);
  problems.note('notice', 'worker replaced', { worker: 1 });
  problems.note('warn', 'an address is unhealthy', { upstream: 'pool', request_id: 'x', headers: { a: 1 } });
  now += 1_000;
  problems.note('error', 'a plugin failed', { plugin: 'cors', err: new Error('no such thing') });
  now += 1_000;
  problems.note('warn', 'an address is unhealthy', { upstream: 'other', status: 503 });
  assert.deepEqual(problems.list(), [
    {
      ...{ level: 'warn', message: 'an address is unhealthy', count: 2, first: 5_000_000, last: 5_002_000 },
      fields: { upstream: 'other', status: 503 },
    },
    {
      ...{ level: 'error', message: 'a plugin failed', count: 1, first: 5_001_000, last: 5_001_000 },
      fields: { plugin: 'cors', error: 'no such thing' },
    },
  ]);
  const counts = { warn: 2, error: 1, crit: 0, alert: 0, emerg: 0 };
  assert.deepEqual([problems.total, problems.lastHour], [counts, counts]);
  now += 61 * 60_000;
  problems.note('crit', 'worker died', {});
  assert.deepEqual(problems.lastHour, { warn: 0, error: 0, crit: 1, alert: 0, emerg: 0 });
  assert.equal(problems.total.warn, 2);
});

test('neither many messages nor long ones make it grow', () => {
  const problems = new LogProblems();
  for (let at = 0; at < 1_000; at++)
    problems.note('error', `message ${at} ${'x'.repeat(10_000)}`, { reason: 'y'.repeat(10_000) });
  const list = problems.list();
  assert.equal(list.length, 20);
  assert.match(list[0]?.message ?? '', /^message 999 /);
  assert.ok(JSON.stringify(list).length < 20_000);
  assert.equal(problems.total.error, 1_000);
});

test('the error log reports lines to it that its level and its target leave out, with the fields of children', async () => {
  const problems = new LogProblems();
  const observe = problems.note.bind(problems);
  const log = createErrorLog({ target: 'off', level: 'crit', format: 'json', fields: { worker: 3 }, observe });
  log.child({ plugin: 'cors' }).error('a plugin failed', { reason: 'why' });
  log.info('nothing');
  assert.deepEqual(
    problems.list().map(({ message, fields }) => [message, fields]),
    [['a plugin failed', { worker: 3, plugin: 'cors', reason: 'why' }]],
  );
  await log.close();
});
