import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type GatewayProcess, startGatewayProcess } from '../../../test/support/gateway-process.ts';
import { until } from '../../../test/support/until.ts';

const sdk = new URL('../../plugin-sdk/', import.meta.url).href;

/** Uses as many milliseconds of CPU time as the request says. */
const busy = `
import { definePlugin, httpProtocols } from '${sdk}index.ts';
import { record } from '${sdk}schema.ts';
const used = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; };
export default definePlugin({
  name: 'busy', version: '1.0.0', priority: 5, protocols: httpProtocols, schema: { config: record({}) },
  setup: () => ({ access(context) {
    const end = used() + Number(context.request.header('x-busy') ?? 0);
    while (used() < end);
    return undefined;
  } }),
});`;

let prefix = '';
let node: GatewayProcess;

before(async () => {
  prefix = await mkdtemp(join(tmpdir(), 'sluicegate-starvation-'));
  await writeFile(join(prefix, 'busy.ts'), busy);
  node = startGatewayProcess(prefix, {
    KONG_PLUGINS: `bundled,${join(prefix, 'busy.ts')}`,
    SLUICEGATE_OVERLOAD_LAG: '60ms',
  });
  await node.started();
  const routes = `${node.url('admin')}/routes`;
  const write = (path: string, body: object): Promise<Response> =>
    fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  assert.equal((await write(routes, { name: 'r', paths: ['/'] })).status, 201);
  for (const plugin of [{ name: 'busy' }, { name: 'request-termination', config: { status_code: 200 } }]) {
    assert.equal((await write(`${routes}/r/plugins`, plugin)).status, 201);
  }
});

after(async () => {
  await node[Symbol.asyncDispose]();
  await rm(prefix, { recursive: true, force: true });
});

/** Stops the process for longer than the limit, as a machine with busier neighbours does; requests arrive meanwhile. */
async function starve(milliseconds: number): Promise<readonly number[]> {
  const begun = performance.now();
  node.child.kill('SIGSTOP');
  const waiting = Array.from({ length: 8 }, async () => {
    const response = await fetch(node.url('proxy'), { headers: { 'x-busy': String(milliseconds) } });
    await response.arrayBuffer();
    return response.status;
  });
  try {
    await until(() => performance.now() - begun > 200);
  } finally {
    node.child.kill('SIGCONT');
  }
  return await Promise.all(waiting);
}

async function shedRequests(): Promise<number> {
  const status = (await (await fetch(`${node.url('status')}/status`)).json()) as { server: { shed_requests: number } };
  return status.server.shed_requests;
}

test('a worker that other programs keep from running serves all requests', async () => {
  for (let count = 0; count < 12; count++) assert.deepEqual(new Set(await starve(0)), new Set([200]));
  assert.equal(await shedRequests(), 0);
  assert.doesNotMatch(node.output(), /overload:/);
});

test('a worker with more work than it can do refuses requests on such a machine too', async () => {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const statuses = await starve(40);
    assert.ok(statuses.every((status) => status === 200 || status === 503));
    if (statuses.includes(503)) break;
    assert.ok(performance.now() < deadline, 'nothing was refused');
  }
  assert.ok((await shedRequests()) > 0);
  assert.match(node.output(), /overload: the event loop is \d+ ms late/);
});
