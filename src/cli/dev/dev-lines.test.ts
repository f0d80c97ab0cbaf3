import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TrafficEntry } from '../../shared/traffic/traffic-record.ts';
import { logLines, problemLines, reloadedLine, requestLine } from './dev-lines.ts';
import { loggedFailure } from './logged-failure.ts';

const at = new Date(2026, 0, 2, 3, 4, 5);

const entry: TrafficEntry = {
  ...{ id: 'a', at: at.toISOString(), client: '127.0.0.1', method: 'GET', scheme: 'http', host: 'localhost' },
  ...{ path: '/users', status: 200, by: 'backend', who: '127.0.0.1:9', reason: null },
  ...{ route: null, service: null, consumer: null, credential: null, tries: 1, backend: null },
  ...{ duration: 3.21, gateway: 1, upstream: 1, receive: 1, bytes_in: 1, bytes_out: 1, aborted: false, traced: false },
};

test('a request is one line', () => {
  assert.equal(requestLine(entry, false), '03:04:05  GET  /users  200  3.2 ms');
  const answered = { ...entry, by: 'plugin', who: 'my-policy', status: 403, duration: 41.7 } as const;
  assert.equal(requestLine(answered, false), '03:04:05  GET  /users  403  42 ms  my-policy answered');
});

test('what a client sent cannot control the terminal', () => {
  const line = requestLine({ ...entry, path: '/\x1b[2J\x07' }, true);
  assert.ok(!line.includes('\x1b[2J'));
  const [first = ''] = logLines({ level: 'warn', message: 'got \x1b[2J', fields: { plugin: 'p' } }, at, false);
  assert.ok(!first.includes('\x1b'));
});

test('without colours there is no escape sequence', () => {
  const problem = { plugin: 'p', title: 'failed', message: 'no', place: 'a.ts:1:2', excerpt: 'ab\n ^' };
  const lines = [requestLine(entry, false), ...problemLines(problem, ['at a'], at, false)];
  assert.ok(lines.every((line) => !line.includes('\x1b')));
  assert.ok(requestLine(entry, true).includes('\x1b['));
});

test('a reload names at most three files', () => {
  const line = (files: readonly string[]): string =>
    reloadedLine({ plugins: ['my-policy'], milliseconds: 43.4, files }, at, false);
  assert.equal(line(['handler.ts']), '03:04:05  reloaded my-policy in 43 ms (handler.ts)');
  assert.equal(line(['a', 'b', 'c', 'd', 'e']), '03:04:05  reloaded my-policy in 43 ms (a, b, c, 2 more)');
});

test('a problem shows its place, and the mark stays below the column after tabs', () => {
  const excerpt = '\tconst id = user.id;\n\t                ^';
  const problem = { plugin: 'p', title: 'failed in access', message: 'no user', place: 'handler.ts:12:18', excerpt };
  assert.deepEqual(problemLines(problem, [], at, false), [
    '03:04:05  p: failed in access',
    '          no user',
    '          handler.ts:12:18',
    '            12 |   const id = user.id;',
    '               |                   ^',
  ]);
});

test('a log line of a plugin shows its fields, and not those that are the same for all', () => {
  const fields = { plugin: 'my-policy', plugin_instance: 'x', request_id: 'y', list: 'blocked', count: 2 };
  assert.deepEqual(logLines({ level: 'warn', message: 'the list is old', fields }, at, false), [
    '03:04:05  warn  my-policy: the list is old  list=blocked  count=2',
  ]);
});

test('an exception in a log line becomes a problem with a stack of relative paths without versions', () => {
  const error =
    "TypeError: Cannot read properties of undefined (reading 'id')\n" +
    '    at access (file:///srv/my-policy/handler.ts?version=0123456789abcdef:12:21)\n' +
    '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)';
  const fields = { plugin: 'my-policy', phase: 'access', error };
  const failure = loggedFailure({ level: 'error', message: 'plugin failed', fields }, '/srv/my-policy');
  assert.equal(failure?.problem.title, 'failed in access');
  assert.equal(failure.problem.message, "TypeError: Cannot read properties of undefined (reading 'id')");
  assert.equal(failure.problem.place, 'handler.ts:12:21');
  assert.deepEqual(failure.stack, ['at access (handler.ts:12:21)']);
});

test('a log line without an error is no failure', () => {
  const fields = { plugin: 'my-policy' };
  assert.equal(loggedFailure({ level: 'warn', message: 'the list is old', fields }, '/srv'), null);
});
