import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { until } from '../../../test/support/until.ts';

const stuck = join(import.meta.dirname, '../../../test/support/plugins/stuck.ts');

/** Maximum wait of a test in milliseconds. */
const maxWait = 30_000;

interface LogLine {
  readonly msg: string;
  readonly level: string;
  readonly [field: string]: unknown;
}

async function startStuck(settings: object = {}): Promise<TestGateway & { readonly instance: string }> {
  const gateway = await startTestGateway({
    settings: { workers: 2, plugins: ['bundled', stuck], workerTimeout: 2500, ...settings },
  });
  await gateway.admin('POST', '/routes', { name: 'trap', paths: ['/r'] });
  const plugin = await gateway.admin('POST', '/routes/trap/plugins', { name: 'stuck' });
  assert.equal(plugin.status, 201, JSON.stringify(plugin.body));
  return Object.assign(gateway, { instance: String(plugin.body['id']) });
}

/** Sends the request that makes a worker stop responding. */
async function fail(gateway: TestGateway, how: string): Promise<void> {
  const signal = AbortSignal.timeout(maxWait);
  await fetch(`${gateway.proxyUrl}/r`, { headers: { 'x-fail': how, connection: 'close' }, signal }).then(
    (response) => response.text(),
    () => null,
  );
}

async function ready(gateway: TestGateway): Promise<readonly [number, string]> {
  const response = await fetch(`${gateway.statusUrl}/status/ready`);
  return [response.status, ((await response.json()) as { message: string }).message];
}

/** The first line of the error log that contains one of the texts. */
async function logLine(gateway: TestGateway, ...texts: readonly string[]): Promise<LogLine> {
  for (const end = performance.now() + maxWait; ; ) {
    assert.ok(performance.now() < end, `the log has none of: ${texts.join(', ')}`);
    const lines = (await readFile(join(gateway.prefix, 'error.log'), 'utf8')).split('\n');
    for (const line of lines) if (texts.some((text) => line.includes(text))) return JSON.parse(line) as LogLine;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const full = 'the heap of a worker is full';
const replaced = 'worker does not respond and is replaced';

test('a worker in an endless loop is detected, logged and replaced; readiness and writes do not wait for it', async () => {
  await using gateway = await startStuck();
  assert.deepEqual(await ready(gateway), [200, 'ready']);
  const failed = fail(gateway, 'loop');
  await until(async () => (await ready(gateway))[0] === 503);
  assert.deepEqual(await ready(gateway), [503, '1 of 2 workers are not responding']);
  const begun = performance.now();
  assert.equal((await gateway.admin('POST', '/routes', { name: 'later', paths: ['/later'] })).status, 201);
  assert.ok(performance.now() - begun < 1000, 'a write does not wait for a worker that does not respond');
  const line = await logLine(gateway, replaced);
  assert.deepEqual(
    [line.level, line['plugin'], line['plugin_instance'], line['phase'], line['route']],
    ['crit', 'stuck', gateway.instance, 'access', 'trap'],
  );
  assert.match(String(line['at']), /^\w+ \(\/.*stuck\.ts:\d+\)$/);
  await failed;
  await until(async () => (await ready(gateway))[0] === 200);
  const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${gateway.proxyUrl}/later`)));
  assert.ok(
    answers.every(({ status }) => status === 503),
    'the successor has the current config',
  );
  assert.equal((await gateway.admin('POST', '/plugins', { name: 'prometheus' })).status, 201);
  const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  assert.match(metrics, /^sluicegate_worker_stuck_total 1$/m);
});

test('a worker in a regular expression that backtracks forever is replaced', async () => {
  await using gateway = await startStuck();
  await fail(gateway, 'regex');
  const line = await logLine(gateway, replaced);
  assert.deepEqual([line['plugin'], line['phase'], line['route']], ['stuck', 'access', 'trap']);
  await until(async () => (await ready(gateway))[0] === 200);
});

test('a loop after an await is found by the stack, and the last call is named', async () => {
  await using gateway = await startStuck({ workers: 1 });
  await fail(gateway, 'later');
  const line = await logLine(gateway, replaced);
  assert.deepEqual([line['plugin'], line['last_plugin'], line['last_route']], ['stuck', 'stuck', 'trap']);
  assert.equal(line['phase'], undefined);
  assert.match(String(line['at']), /stuck\.ts/);
  await until(async () => (await ready(gateway))[0] === 200);
});

test('when one call fills the heap, only its worker is affected, and is replaced within seconds', async () => {
  await using gateway = await startStuck({ workerMaxHeapSize: 256 * 1024 ** 2 });
  const begun = performance.now();
  await fail(gateway, 'fill');
  // On a busy machine the silence is noticed first.
  const line = await logLine(gateway, full, replaced);
  assert.ok(performance.now() - begun < 15_000);
  assert.deepEqual([line['plugin'], line['phase'], line['route']], ['stuck', 'access', 'trap']);
  await until(async () => (await ready(gateway))[0] === 200);
});

test('when the heap fills gradually, only its worker is affected, and is replaced within seconds', async () => {
  await using gateway = await startStuck({ workers: 1, workerMaxHeapSize: 128 * 1024 ** 2 });
  const begun = performance.now();
  await fail(gateway, 'leak');
  await logLine(gateway, full);
  assert.ok(performance.now() - begun < 15_000);
  await until(async () => (await ready(gateway))[0] === 200);
});

test('a stop does not wait for a worker in an endless loop', async () => {
  await using gateway = await startStuck({ workers: 1, workerTimeout: 5000, drainTimeout: 60_000 });
  const failed = fail(gateway, 'loop');
  await until(async () => (await ready(gateway))[0] === 503);
  const begun = performance.now();
  await gateway.gateway.stop(true, 0);
  assert.ok(performance.now() - begun < 20_000);
  await failed;
});

test('uncollected garbage does not cause a worker with a small heap to be replaced', async () => {
  await using gateway = await startStuck({ workers: 1, workerMaxHeapSize: 64 * 1024 ** 2, overloadHeap: 0 });
  assert.equal((await gateway.admin('POST', '/plugins', { name: 'prometheus' })).status, 201);
  assert.equal((await fetch(`${gateway.proxyUrl}/r`, { headers: { 'x-fail': 'litter' } })).status, 200);
  // Several heartbeats of the worker and checks of the watchdog.
  for (const end = performance.now() + 1500; performance.now() < end; ) {
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    assert.match(metrics, /^sluicegate_worker_stuck_total 0$/m);
  }
  assert.deepEqual(await ready(gateway), [200, 'ready']);
});

test('a worker whose heap stays nearly full, and which therefore refuses everything, is replaced', async () => {
  await using gateway = await startStuck({ workers: 1, workerMaxHeapSize: 256 * 1024 ** 2, overloadHeap: 25 });
  await fail(gateway, 'hold');
  const line = await logLine(gateway, full);
  assert.equal(line['last_plugin'], 'stuck');
  assert.ok(Number(line['heap_used']) > Number(line['heap_limit']) / 4);
  await until(async () => (await ready(gateway))[0] === 503);
  await until(async () => (await ready(gateway))[0] === 200);
  assert.equal((await fetch(`${gateway.proxyUrl}/r`)).status, 200);
});

test('a plugin whose setup does not return affects only requests in its scope', async () => {
  await using gateway = await startStuck();
  assert.equal((await gateway.admin('POST', '/routes', { name: 'other', paths: ['/other'] })).status, 201);
  const created = await gateway.admin('POST', '/routes/other/plugins', { name: 'stuck', config: { broken: true } });
  assert.equal(created.status, 201);
  const line = await logLine(gateway, replaced);
  assert.deepEqual([line['plugin_instance'], line['phase']], [created.body['id'], 'setup']);
  await until(async () => (await ready(gateway))[0] === 200);
  await logLine(gateway, 'did not return; change the plugin to retry');
  const seen = new Set<string>();
  await until(async () => {
    const served = await fetch(`${gateway.proxyUrl}/r`, { headers: { connection: 'close' } });
    assert.equal(served.status, 200);
    const refused = await fetch(`${gateway.proxyUrl}/other`, { headers: { connection: 'close' } });
    seen.add(refused.status === 200 ? await refused.text() : `status ${refused.status}`);
    return seen.size === 2;
  });
  assert.deepEqual([...seen].sort(), ['status 500', 'worker 1'], 'worker 1 could set it up');
  const mended = await gateway.admin('PATCH', `/plugins/${created.body['id']}`, { config: { broken: false } });
  assert.equal(mended.status, 200);
  for (let count = 0; count < 20; count++) {
    const response = await fetch(`${gateway.proxyUrl}/other`, { headers: { connection: 'close' } });
    assert.equal(response.status, 200);
  }
});
