import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { until } from '../../../test/support/until.ts';

/** A plugin whose instances make their worker fail as the request header `x-fail` says. */
const faulty = join(import.meta.dirname, '../../../test/support/plugins/faulty.ts');

async function startFaulty(workers: number): Promise<TestGateway> {
  const gateway = await startTestGateway({ settings: { workers, plugins: ['bundled', faulty] } });
  try {
    await gateway.admin('POST', '/routes', { name: 'r', paths: ['/r'] });
    const plugin = await gateway.admin('POST', '/routes/r/plugins', { name: 'faulty' });
    assert.equal(plugin.status, 201, JSON.stringify(plugin.body));
    return gateway;
  } catch (error) {
    await gateway.stop();
    throw error;
  }
}

/** The number of the worker that answered; null when the connection broke. */
async function ask(gateway: TestGateway, fail?: string): Promise<string | null> {
  try {
    const headers = { connection: 'close', ...(fail === undefined ? {} : { 'x-fail': fail }) };
    const response = await fetch(`${gateway.proxyUrl}/r`, { headers });
    const text = await response.text();
    return response.status === 200 ? text : `status ${response.status}`;
  } catch {
    return null;
  }
}

async function runningWorkers(gateway: TestGateway): Promise<readonly unknown[]> {
  const { pids } = (await gateway.admin('GET', '/')).body as { pids: { workers: readonly unknown[] } };
  return pids.workers;
}

test('a worker that dies is replaced, with the current config, while the others serve', async () => {
  await using gateway = await startFaulty(2);
  const before = await runningWorkers(gateway);
  assert.equal(before.length, 2);
  assert.equal(await ask(gateway, 'throw'), null);
  // Written while only one worker is left: the successor has to receive it, too.
  assert.equal((await gateway.admin('POST', '/routes', { name: 'later', paths: ['/later'] })).status, 201);
  await until(async () => {
    const workers = await runningWorkers(gateway);
    return workers.length === 2 && workers.some((worker) => !before.includes(worker));
  });
  const seen = new Set<string | null>();
  await until(async () => {
    const answer = await ask(gateway);
    assert.notEqual(answer, null, 'no request fails while a worker is replaced');
    seen.add(answer);
    return seen.size === 2;
  });
  assert.deepEqual([...seen].sort(), ['worker 0', 'worker 1']);
  const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(`${gateway.proxyUrl}/later`)));
  assert.ok(
    answers.every(({ status }) => status === 503),
    'a route without a service',
  );
  const log = await readFile(join(gateway.prefix, 'error.log'), 'utf8');
  assert.match(log, /worker died/);
  assert.match(log, /thrown on purpose/, 'with the cause');
  assert.match(log, /data-plane-worker\.ts/, 'and where');
});

test('a worker that ends itself repeatedly is replaced each time', async () => {
  await using gateway = await startFaulty(1);
  for (let turn = 0; turn < 3; turn++) {
    const [before] = await runningWorkers(gateway);
    assert.equal(await ask(gateway, 'exit'), null);
    await until(async () => {
      const workers = await runningWorkers(gateway);
      return workers.length === 1 && workers[0] !== before;
    });
    assert.equal(await ask(gateway), 'worker 0');
  }
});

test('an unhandled rejection breaks no connection', async () => {
  await using gateway = await startFaulty(1);
  const before = await runningWorkers(gateway);
  assert.equal(await ask(gateway, 'reject'), 'worker 0');
  assert.equal(await ask(gateway), 'worker 0');
  assert.deepEqual(await runningWorkers(gateway), before);
  await until(async () => (await readFile(join(gateway.prefix, 'error.log'), 'utf8')).includes('rejected on purpose'));
});

test('an entity that cannot be built is reported, and the rest is served', async () => {
  await using gateway = await startFaulty(1);
  await gateway.admin('POST', '/routes', { name: 'other', paths: ['/other'] });
  const created = await gateway.admin('POST', '/routes/other/plugins', { name: 'faulty', config: { broken: true } });
  assert.equal(created.status, 201);
  assert.equal((await fetch(`${gateway.proxyUrl}/other`)).status, 500, 'its scope is closed rather than open');
  assert.equal(await ask(gateway), 'worker 0');
  await until(async () => (await readFile(join(gateway.prefix, 'error.log'), 'utf8')).includes('broken on purpose'));
});
