import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { type RawBackend, startRawBackend } from './support/raw-backend.ts';
import { openClient } from './support/raw-client.ts';
import { until } from './support/until.ts';

/** Larger than the limit below, whether the shell counts blocks of 512 or of 1024 bytes. */
const full = 160 * 2 ** 20;
const limitBlocks = 128 * 1024;
const clients = 10;
const requestsOfEach = 400;

/**
 * No file of the gateway can grow beyond the limit, so appending to an existing one fails as on a full disk. Unlike `/dev/full`,
 * space in this file can be freed again.
 */
describe('a log disk that fills up', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-disk-'));
  const accessLog = join(folder, 'access.log');
  const recordLog = join(folder, 'requests.log');
  const errorLog = join(folder, 'error.log');
  const urls: Record<string, string> = {};
  let node: ChildProcess;
  let backend: RawBackend;

  before(async () => {
    for (const path of [accessLog, recordLog]) {
      closeSync(openSync(path, 'w'));
      truncateSync(path, full);
    }
    backend = await startRawBackend();
    node = await startNode();
    await admin('/services', { name: 'web', url: backend.url });
    await admin('/services/web/routes', { name: 'web', 'paths[]': '/' });
    await admin('/plugins', { name: 'file-log', 'config.path': recordLog });
    await admin('/plugins', { name: 'prometheus' });
  });
  after(async () => {
    node.kill();
    if (node.exitCode === null) await once(node, 'exit');
    await backend.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startNode(): Promise<ChildProcess> {
    const command = [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, '../src/main.ts'),
      'start',
    ];
    const child = spawn('sh', ['-c', `ulimit -f ${limitBlocks}; exec "$@"`, 'sh', ...command], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        NODE_COMPILE_CACHE: join(import.meta.dirname, '../.runtime/compile-cache'),
        KONG_PREFIX: folder,
        KONG_PROXY_LISTEN: '127.0.0.1:0',
        KONG_ADMIN_LISTEN: '127.0.0.1:0',
        KONG_STATUS_LISTEN: 'off',
        KONG_ADMIN_GUI_LISTEN: 'off',
        KONG_PROXY_ACCESS_LOG: accessLog,
        KONG_PROXY_ERROR_LOG: errorLog,
        KONG_ADMIN_ERROR_LOG: errorLog,
        KONG_NGINX_WORKER_PROCESSES: '2',
      },
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const [, name = '', url = ''] = /^\s+(proxy|admin)\s+(http:\S+)/.exec(line) ?? [];
      if (name !== '') urls[name] = url;
      if (urls['admin'] !== undefined && urls['proxy'] !== undefined) {
        child.stdout.resume();
        return child;
      }
    }
    throw new Error('the node ended before it listened');
  }

  async function admin(path: string, fields: Readonly<Record<string, string>>): Promise<void> {
    const answer = await fetch(`${urls['admin']}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
    assert.equal(answer.status, 201, await answer.text());
  }

  async function lostLines(): Promise<number> {
    const answer = await fetch(`${urls['admin']}/status`);
    const { plugins } = (await answer.json()) as { plugins: Record<string, Record<string, number>> };
    return plugins['file-log']?.['lines_lost'] ?? 0;
  }

  /** Of the access log. */
  async function droppedLines(): Promise<number> {
    const text = await (await fetch(`${urls['admin']}/metrics`)).text();
    return Number(/^sluicegate_log_lines_dropped_total (\d+)/m.exec(text)?.[1]);
  }

  /** Bytes of memory; 0 where the system does not report it. */
  function memory(): number {
    const path = `/proc/${node.pid}/status`;
    return existsSync(path) ? Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(path, 'utf8'))?.[1]) * 1024 : 0;
  }

  /** Long records, so that kept ones would show in the memory. */
  async function send(count: number): Promise<void> {
    using client = await openClient(Number(new URL(urls['proxy'] ?? '').port));
    const request = `GET /one HTTP/1.1\r\nHost: full.test\r\nX-Long: ${'x'.repeat(28_000)}\r\n\r\n`;
    for (let turn = 0; turn < count; turn++) {
      client.write(request);
      assert.equal((await client.readResponse()).status, 200);
    }
  }

  it('affects no request and uses no memory; lost lines are counted and reported', async () => {
    await send(50);
    const before = memory();
    await Promise.all(Array.from({ length: clients }, () => send(requestsOfEach)));
    await until(async () => (await lostLines()) === 50 + clients * requestsOfEach);
    await until(async () => (await droppedLines()) === 50 + clients * requestsOfEach);
    // The records themselves are over 110 MB.
    assert.ok(memory() - before < 90 * 2 ** 20, `${before} -> ${memory()}`);
    assert.equal(statSync(recordLog).size, full);
    assert.equal(statSync(accessLog).size, full);
    await until(() => /log lines are lost/.test(readFileSync(errorLog, 'utf8')));
    const told = readFileSync(errorLog, 'utf8').match(/log lines are lost/g) ?? [];
    assert.ok(told.length <= 4, `${told.length} times`);
  });

  it('is written to again once there is space', async () => {
    const lost = await lostLines();
    truncateSync(recordLog, 0);
    truncateSync(accessLog, 0);
    await send(20);
    const lines = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\n').filter(Boolean);
    await until(() => lines(recordLog).length >= 20 && lines(accessLog).length >= 20);
    for (const line of lines(recordLog)) assert.equal(JSON.parse(line).request.uri, '/one');
    for (const line of lines(accessLog)) assert.match(line, /^127\.0\.0\.1 - - \[.*"GET \/one HTTP\/1\.1" 200 /);
    assert.equal(await lostLines(), lost);
  });
});
