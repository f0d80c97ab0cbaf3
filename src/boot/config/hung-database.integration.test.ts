import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type GatewayProcess, startGatewayProcess } from '../../../test/support/gateway-process.ts';
import { postgresEnv, skipWithoutPostgres, startPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { type StallingProxy, startStallingProxy } from '../../../test/support/stalling-proxy.ts';
import { until } from '../../../test/support/until.ts';

const skip = skipWithoutPostgres();
let postgres: TestPostgres;
let folder = '';

before(async () => {
  if (skip !== false) return;
  postgres = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-hung-'));
});

after(async () => {
  if (skip !== false) return;
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

const drainTime = 1000;

function startNode(name: string, port: number, timeout = '1000'): GatewayProcess {
  return startGatewayProcess(join(folder, name), {
    ...postgresEnv({ ...postgres, port }),
    KONG_PG_TIMEOUT: timeout,
    SLUICEGATE_DRAIN_TIMEOUT: `${drainTime}ms`,
  });
}

/** How many milliseconds it took. */
async function timed(work: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work;
  return performance.now() - begun;
}

async function addService(node: GatewayProcess): Promise<void> {
  const body = new URLSearchParams({ url: 'http://127.0.0.1:9' });
  const response = await fetch(`${node.url('admin')}/services/s`, { method: 'PUT', body });
  assert.equal(response.status, 200);
}

test('a stop ends in time while the database hangs', { skip }, async () => {
  await using proxy: StallingProxy = await startStallingProxy(postgres);
  await using node = startNode('stop-behind-proxy', proxy.port, '30000');
  await node.started();
  proxy.stall();
  // A request waits for the database, too.
  fetch(`${node.url('admin')}/services`).catch(() => undefined);
  node.child.kill('SIGTERM');
  const took = await timed(node.exit);
  assert.equal(await node.exit, 0, node.output());
  assert.ok(took < 8000, `${Math.round(took)} ms`);
});

test('a stop ends in time while PostgreSQL is frozen', { skip }, async () => {
  await using node = startNode('stop-frozen', postgres.port, '30000');
  await node.started();
  postgres.freeze();
  try {
    node.child.kill('SIGQUIT');
    const took = await timed(node.exit);
    assert.equal(await node.exit, 0, node.output());
    assert.ok(took < 8000, `${Math.round(took)} ms`);
  } finally {
    postgres.thaw();
  }
});

test('a start with a frozen database fails within pg_timeout', { skip }, async () => {
  const first = startNode('start-frozen', postgres.port);
  await first.started();
  await addService(first);
  first.child.kill('SIGTERM');
  assert.equal(await first.exit, 0);
  postgres.freeze();
  try {
    await using stranger = startNode('stranger', postgres.port);
    const refused = await timed(stranger.exit);
    assert.match(
      stranger.output(),
      /cannot use PostgreSQL .*the last good config .* is not usable: the file does not exist/,
    );
    assert.ok(refused < 10_000, `${Math.round(refused)} ms`);
    await using second = startNode('start-frozen', postgres.port);
    const took = await timed(second.started());
    assert.ok(took < 10_000, `${Math.round(took)} ms`);
    assert.match(second.output(), /uses the last good config/);
  } finally {
    postgres.thaw();
  }
});

test('a start behind a pooler whose database hangs fails within twice pg_timeout', { skip }, async () => {
  await using proxy: StallingProxy = await startStallingProxy(postgres, { stallAt: 'select 1' });
  await using node = startNode('pooler', proxy.port);
  const took = await timed(node.exit);
  assert.equal(await node.exit, 1);
  assert.match(node.output(), /Error: cannot use PostgreSQL at .*timeout/);
  assert.ok(took < 10_000, `${Math.round(took)} ms`);
});

test('a signal ends a start that waits for the database', { skip }, async () => {
  await using proxy: StallingProxy = await startStallingProxy(postgres);
  proxy.stall();
  await using node = startNode('signal-while-starting', proxy.port, '60000');
  await until(() => proxy.connections > 0);
  node.child.kill('SIGTERM');
  const took = await timed(node.exit);
  assert.equal(await node.exit, 0, node.output());
  assert.match(node.output(), /SIGTERM: abandoning the start/);
  assert.ok(took < 3000, `${Math.round(took)} ms`);
});
