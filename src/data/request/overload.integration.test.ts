import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';

const sdk = new URL('../../plugin-sdk/', import.meta.url).href;

/** Holds 100 MB of heap for three seconds when a request asks for it. */
const greedy = `
import { definePlugin, httpProtocols } from '${sdk}index.ts';
import { record } from '${sdk}schema.ts';
let held = null;
export default definePlugin({
  name: 'greedy', version: '1.0.0', priority: 5, protocols: httpProtocols, schema: { config: record({}) },
  setup: () => ({ access(context) {
    if (context.request.header('x-hold') === null) return undefined;
    held = Array.from({ length: 1600000 }, (_, at) => ({ at, text: 'x' + at }));
    setTimeout(() => { held = null; }, 3000);
    return undefined;
  } }),
});`;

/** Keeps the event loop busy for as many milliseconds of CPU as the request says. */
const busy = `
import { definePlugin, httpProtocols } from '${sdk}index.ts';
import { record } from '${sdk}schema.ts';
export default definePlugin({
  name: 'busy', version: '1.0.0', priority: 5, protocols: httpProtocols, schema: { config: record({}) },
  setup: () => ({ access(context) {
    const begun = process.threadCpuUsage();
    for (let used = 0; used < Number(context.request.header('x-busy') ?? 0) * 1000; ) {
      const { user, system } = process.threadCpuUsage(begun);
      used = user + system;
    }
    return undefined;
  } }),
});`;

let folder = '';
let gateway: TestGateway;
let backend: TestBackend;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-overload-'));
  await writeFile(join(folder, 'busy.ts'), busy);
  backend = await startBackend();
  gateway = await startTestGateway({
    settings: { plugins: [join(folder, 'busy.ts')], overloadLag: 60 },
  });
  for (const [path, body] of [
    ['/services', { name: 's', url: backend.url }],
    ['/services/s/routes', { paths: ['/'] }],
    ['/plugins', { name: 'busy' }],
  ] as const) {
    assert.equal((await gateway.admin('POST', path, body)).status, 201);
  }
});

after(async () => {
  await gateway.stop();
  await backend.close();
  await rm(folder, { recursive: true, force: true });
});

function get(milliseconds: number): Promise<Response> {
  return fetch(gateway.proxyUrl, { headers: { 'x-busy': String(milliseconds) } });
}

test('one long task is not an overload: requests that waited for it are served', async () => {
  const answers = await Promise.all([get(400), get(0), get(0), get(0)]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
});

test('a worker that stays late refuses with 503 and Retry-After, logs it, and serves all requests again afterwards', async () => {
  const refused: Response[] = [];
  const begun = Date.now();
  while (refused.length === 0) {
    assert.ok(Date.now() - begun < 20_000, 'nothing was refused');
    const answers = await Promise.all(Array.from({ length: 16 }, () => get(100)));
    refused.push(...answers.filter(({ status }) => status === 503));
  }
  assert.equal(refused[0]?.headers.get('retry-after'), '1');
  assert.match(await refused[0]!.text(), /Service temporarily unavailable/);
  const status = (await (await fetch(`${gateway.statusUrl}/status`)).json()) as { server: { shed_requests: number } };
  assert.ok(status.server.shed_requests >= refused.length);
  for (;;) {
    assert.ok(Date.now() - begun < 40_000, 'it never recovered');
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(0)));
    if (answers.every((answer) => answer.status === 200)) break;
  }
  const log = await readFile(join(gateway.prefix, 'error.log'), 'utf8');
  assert.match(log, /overload: the event loop is \d+ ms late; requests are refused with 503/);
});

test('a worker whose heap is nearly full refuses all requests until it has room again', async () => {
  await writeFile(join(folder, 'greedy.ts'), greedy);
  // Two percent of the cap is less than what the plugin holds, and more than a worker needs.
  const settings = {
    plugins: [join(folder, 'greedy.ts')],
    overloadLag: 0,
    overloadHeap: 2,
    workerMaxHeapSize: 2 * 1024 ** 3,
  };
  await using small = await startTestGateway({ settings });
  for (const [path, body] of [
    ['/services', { name: 's', url: backend.url }],
    ['/services/s/routes', { paths: ['/'] }],
    ['/plugins', { name: 'greedy' }],
  ] as const) {
    assert.equal((await small.admin('POST', path, body)).status, 201);
  }
  const status = async (headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(small.proxyUrl, { headers })).status;
  assert.equal(await status({ 'x-hold': '1' }), 200);
  const deadline = Date.now() + 30_000;
  while ((await status()) !== 503) assert.ok(Date.now() < deadline, 'nothing was refused');
  assert.deepEqual(await Promise.all([status(), status(), status()]), [503, 503, 503]);
  while ((await status()) !== 200) assert.ok(Date.now() < deadline, 'it never recovered');
  assert.match(await readFile(join(small.prefix, 'error.log'), 'utf8'), /overload: the heap is nearly full/);
});
