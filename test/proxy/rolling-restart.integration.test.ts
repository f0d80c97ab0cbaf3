import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startBackend } from '../support/backend.ts';
import { freePort } from '../support/free-port.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';

/** For a measurement: `ROLLS=20`. */
const rolls = Number(process.env['ROLLS'] ?? 3);
const clients = Number(process.env['ROLL_CLIENTS'] ?? 8);
const delay = process.env['ROLL_DELAY'] ?? '100ms';

/** A request on a new connection. */
async function status(port: number): Promise<number> {
  const request = get({ port, host: '127.0.0.1', agent: false });
  const [response] = await once(request, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

class Load {
  readonly failures: string[] = [];
  requests = 0;
  #running = true;
  readonly #clients: readonly Promise<void>[];

  constructor(port: number) {
    this.#clients = Array.from({ length: clients }, () => this.#client(port));
  }

  async #client(port: number): Promise<void> {
    while (this.#running) {
      this.requests += 1;
      const answer = await status(port).catch((error: Error) => error.message);
      if (answer !== 200) this.failures.push(String(answer));
      // The nodes need the processor to start.
      await wait(5);
    }
  }

  async end(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#clients);
  }
}

test('resets almost no connection while nodes on a shared port replace each other', {
  skip: process.platform === 'linux' ? false : 'needs SO_REUSEPORT of Linux',
  timeout: 30_000 + rolls * 10_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluicegate-rolling-'));
  await using backend = await startBackend();
  const port = await freePort();
  const start = (name: string): GatewayProcess =>
    startGatewayProcess(join(folder, name), {
      KONG_PROXY_LISTEN: `127.0.0.1:${port} reuseport`,
      KONG_PROXY_ACCESS_LOG: 'off',
      KONG_NGINX_WORKER_PROCESSES: '2',
      SLUICEGATE_PORT_SHARING: 'on',
      SLUICEGATE_SHUTDOWN_DELAY: delay,
    });
  const first = start('a');
  await first.started();
  for (const [path, body] of [
    ['services/s', { url: backend.url }],
    ['services/s/routes/r', { paths: '/' }],
  ] as const) {
    const response = await fetch(`${first.url('admin')}/${path}`, { method: 'PUT', body: new URLSearchParams(body) });
    assert.equal(response.status, 200);
  }
  first.child.kill('SIGTERM');
  assert.equal(await first.exit, 0);
  // Each node has its own prefix and store.
  await cp(join(folder, 'a'), join(folder, 'b'), { recursive: true });
  let node = start('b');
  await node.started();
  const load = new Load(port);
  for (let roll = 0; roll < rolls; roll++) {
    const next = start(roll % 2 === 0 ? 'a' : 'b');
    await next.started();
    node.child.kill('SIGTERM');
    assert.equal(await node.exit, 0, node.output());
    node = next;
  }
  await load.end();
  await node[Symbol.asyncDispose]();
  // The kernel resets connections that arrive between the last accept and the close, some microseconds later.
  assert.ok(load.failures.length <= rolls, `${load.failures}`);
  assert.ok(load.requests > 100 * rolls, `${load.requests} requests`);
  if (process.env['ROLLS'] !== undefined)
    process.stdout.write(`${rolls} restarts, ${load.requests} requests, ${load.failures.length} failed\n`);
  await rm(folder, { recursive: true, force: true });
});
