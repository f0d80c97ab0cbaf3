import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { startRawBackend } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

/** Case 29: clients use up every file descriptor; the node recovers when they disconnect. */
test('a node that runs out of file descriptors recovers', async () => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-descriptors-'));
  const backend = await startRawBackend();
  const anywhere = '127.0.0.1:0';
  const child = spawn('bash', ['-c', 'ulimit -n 150; exec "$0" "$@"', process.execPath, main, 'start'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: join(import.meta.dirname, '../../.runtime/compile-cache'),
      KONG_PREFIX: prefix,
      KONG_PROXY_LISTEN: anywhere,
      KONG_ADMIN_LISTEN: anywhere,
      KONG_STATUS_LISTEN: 'off',
      KONG_ADMIN_GUI_LISTEN: 'off',
      KONG_NGINX_WORKER_PROCESSES: '1',
    },
  });
  const ended = once(child, 'exit');
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const sockets: Socket[] = [];
  try {
    const urls = new Map<string, string>();
    for await (const line of createInterface({ input: child.stdout })) {
      const [, name = '', url = ''] = /^\s+(admin|proxy)\s+(http:\S+)/.exec(line) ?? [];
      if (name !== '') urls.set(name, url);
      if (urls.size === 2) break;
    }
    child.stdout.resume();
    const write = async (path: string, body: object): Promise<void> => {
      const { status } = await fetch(`${urls.get('admin')}${path}`, {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.ok(status < 300, `${path}: ${status}`);
    };
    await write('/services/s', { url: backend.url, retries: 0 });
    await write('/services/s/routes/r', { paths: ['/'] });
    const port = Number(new URL(urls.get('proxy') ?? '').port);
    const ask = async (): Promise<number> => {
      using client = await openClient(port);
      client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      return await client.readResponse().then(
        ({ status }) => status,
        () => 0,
      );
    };
    assert.equal(await ask(), 200);
    for (let count = 0; count < 300; count++) sockets.push(connect(port, '127.0.0.1').on('error', () => {}));
    // While all descriptors are in use, no other client is served.
    await until(async () => (await Promise.race([ask(), new Promise((done) => setTimeout(done, 500, 0))])) !== 200);
    await until(async () => /out of file descriptors; closing new connections until others end/.test(errors));
    assert.match(errors, /the open file limit is lower than the maximum number of connections/);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await Promise.race([ask(), new Promise((done) => setTimeout(done, 500, 0))])) === 200);
    await until(async () => errors.includes('file descriptors are available again'));
    const lines = errors.split('\n').filter((line) => line.includes('out of file descriptors'));
    assert.equal(lines.length, 1, errors);
    assert.equal(child.exitCode, null);
  } finally {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
    await ended;
    await backend.close();
    await rm(prefix, { recursive: true, force: true });
  }
});
