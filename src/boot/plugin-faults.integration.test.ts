import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type GatewayProcess, startGatewayProcess } from '../../test/support/gateway-process.ts';
import { until } from '../../test/support/until.ts';

const plugin = join(import.meta.dirname, '../../test/support/plugins/mishaps.ts');

let prefix: string;
let node: GatewayProcess;
before(async () => {
  prefix = await mkdtemp(join(tmpdir(), 'sluicegate-faults-'));
  node = startGatewayProcess(prefix, {
    KONG_PLUGINS: `bundled,${plugin}`,
    KONG_PROXY_ERROR_LOG: 'error.log',
    KONG_ADMIN_ERROR_LOG: 'error.log',
  });
  await node.started();
  for (const body of [{ name: 'mishaps', config: { does: 'log none' } }, { name: 'prometheus' }]) {
    const response = await fetch(`${node.url('admin')}/plugins`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 201);
  }
});
after(async () => {
  await node?.[Symbol.asyncDispose]();
  await rm(prefix, { recursive: true, force: true });
});

async function mishap(how: string): Promise<number> {
  return (await fetch(`${node.url('admin')}/mishaps/${how}`)).status;
}

async function logged(from: number, pattern: RegExp): Promise<string> {
  let found: string | undefined;
  await until(async () => {
    const text = await readFile(join(prefix, 'error.log'), 'utf8').catch(() => '');
    found = text
      .slice(from)
      .split('\n')
      .find((line) => pattern.test(line));
    return found !== undefined;
  });
  return found ?? '';
}

async function logLength(): Promise<number> {
  return (await readFile(join(prefix, 'error.log'), 'utf8').catch(() => '')).length;
}

const inRoute = /"plugin":"mishaps","phase":"adminRoutes".*mishaps-background\.ts:\d+:\d+/;
const stray = /plugin failed outside of a request/;

const cases: readonly (readonly [how: string, status: number, line: RegExp])[] = [
  ['throw', 500, inRoute],
  ['text', 500, /"plugin":"mishaps","phase":"adminRoutes","error":"thrown: a mishap/],
  ['exit', 500, /plugin 'mishaps' called process\.exit\(\)/],
  ['kill', 500, /plugin 'mishaps' called process\.kill\(\)/],
  ['timer', 200, stray],
  ['rejection', 200, stray],
  ['background-throw', 500, inRoute],
  ['background-exit', 500, /plugin 'mishaps' called process\.exit\(\)/],
];
for (const [how, status, line] of cases) {
  test(`${how} in the control plane does not end the node, and is logged`, async () => {
    const from = await logLength();
    assert.equal(await mishap(how), status);
    const text = await logged(from, line);
    if (line === stray) assert.match(text, /"plugin":"mishaps".*mishaps-background\.ts:\d+:\d+/);
    assert.equal(node.child.exitCode, null);
    assert.equal((await fetch(`${node.url('status')}/status/ready`)).status, 200);
  });
}

test('what plugins did in the control plane is counted', async () => {
  const page = await (await fetch(`${node.url('status')}/metrics`)).text();
  for (const phase of ['admin_routes', 'outside'])
    assert.match(
      page,
      new RegExp(`^sluicegate_plugin_failures_total\\{plugin="mishaps",phase="${phase}"\\} [1-9]`, 'm'),
    );
});

test('the node still ends when it is asked to', async () => {
  node.child.kill('SIGTERM');
  assert.equal(await node.exit, 0);
});
