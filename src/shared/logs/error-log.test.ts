import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type { ErrorLogOptions } from './error-log.ts';
import { createErrorLog } from './error-log.ts';

const folder = mkdtempSync(join(tmpdir(), 'error-log-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function open(options: Partial<ErrorLogOptions> = {}): { path: string; log: ReturnType<typeof createErrorLog> } {
  const path = join(folder, `${++files}.log`);
  return { path, log: createErrorLog({ target: path, level: 'notice', format: 'json', ...options }) };
}

function records(path: string): readonly Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('lines are JSON with level, time, message and fields', async () => {
  const { path, log } = open({ fields: { worker: 1 } });
  log.warn('late', { ms: 7 });
  await log.close();
  const [record] = records(path);
  assert.equal(record?.['level'], 'warn');
  assert.equal(record?.['msg'], 'late');
  assert.equal(record?.['ms'], 7);
  assert.equal(record?.['worker'], 1);
  assert.ok(Math.abs(Date.parse(String(record?.['time'])) - Date.now()) < 60_000);
});

test('messages below the level are omitted, and the level can change', async () => {
  const { path, log } = open();
  const child = log.child({ plugin: 'cors' });
  log.info('no');
  child.debug('no');
  log.setLevel('debug');
  child.debug('yes');
  log.log('alert', 'yes');
  log.log('nonsense', 'yes');
  await log.close();
  assert.deepEqual(
    records(path).map((record) => [record['level'], record['msg'], record['plugin']]),
    [
      ['debug', 'yes', 'cors'],
      ['alert', 'yes', undefined],
      ['error', 'yes', undefined],
    ],
  );
});

test('an error is written with its stack', async () => {
  const { path, log } = open();
  log.error('failed', { err: new Error('why') });
  await log.close();
  const error = records(path)[0]?.['err'];
  assert.ok(typeof error === 'object' && error !== null && 'stack' in error);
  assert.match(String(error.stack), /Error: why\n/);
});

test('the readable form is one line, and nothing in it can forge another', async () => {
  const { path, log } = open({ format: 'text' });
  log.notice('started\nfake', { prefix: '/a b', workers: 2, '\x1b[31m': 'x' });
  await log.close();
  assert.match(
    readFileSync(path, 'utf8'),
    /^\d\d:\d\d:\d\d\.\d{3} notice started\\x0afake {2}prefix="\/a b" workers=2 \\x1b\[31m=x\n$/,
  );
});

test('the last words of a process are written at once', () => {
  const { path, log } = open();
  log.emerg('the end');
  log.flushNow();
  assert.equal(records(path)[0]?.['msg'], 'the end');
});

test('a line is written when the process has no file descriptor left', {
  skip: process.platform === 'win32',
}, async () => {
  const path = join(folder, 'no-descriptors.log');
  const code = `
    import { openSync } from 'node:fs';
    const { createErrorLog } = await import(${JSON.stringify(new URL('./error-log.ts', import.meta.url).href)});
    const log = createErrorLog({ target: ${JSON.stringify(path)}, level: 'notice', format: 'json', fields: { worker: 1 } });
    try { for (;;) openSync('/dev/null'); } catch {}
    log.error('cannot accept', { err: new TypeError('EMFILE') });
    log.flushNow();
    process.exit(0);`;
  const run = `ulimit -n 256; exec "$0" --input-type=module --eval "$1"`;
  await promisify(execFile)('sh', ['-c', run, process.execPath, code]);
  const [record] = records(path);
  const { level, msg, worker, err } = record as Record<string, unknown>;
  assert.deepEqual([level, msg, worker], ['error', 'cannot accept', 1]);
  assert.equal((err as { readonly message?: unknown }).message, 'EMFILE');
});
