import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-import-'));
const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
let gateway: TestGateway;
let backend: TestBackend;
before(async () => {
  backend = await startBackend();
  gateway = await startTestGateway();
});
after(async () => {
  await gateway.stop();
  await backend.close();
  rmSync(folder, { recursive: true, force: true });
});

const document = (more = '') => `
openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: "http://shop.example/v1" }]
paths:
  /orders:
    get: { operationId: listOrders, responses: { "200": { description: any } } }
  /orders/{id}:
    get:
      operationId: getOrder
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses: { "200": { description: any } }
  /orders/latest:
    get: { operationId: latestOrder, responses: { "200": { description: any } }, x-kong-plugin-request-termination: { config: { status_code: 418 } } }
${more}`;

async function cli(text: string, ...options: readonly string[]): Promise<{ code: number; output: string }> {
  writeFileSync(join(folder, 'shop.yaml'), text);
  const argv = [
    main,
    'import',
    'openapi',
    'shop.yaml',
    '--admin',
    gateway.adminUrl,
    '--server',
    backend.url,
    ...options,
  ];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { cwd: folder, env: {} }, (error, out, err) => {
      resolve({
        code: typeof error?.code === 'number' ? error.code : 0,
        output: out + err.replace(/^.*Warning.*\n/gm, ''),
      });
    });
  });
}

async function ask(path: string): Promise<readonly [number, string]> {
  const response = await fetch(gateway.proxyUrl + path, { headers: { connection: 'close' } });
  const text = await response.text();
  return [response.status, response.status === 200 ? JSON.parse(text).url : text];
}

test('services and routes are created, and serve', async () => {
  const { code, output } = await cli(document(), '--tags', 'shop', '--validate');
  assert.equal(code, 0, output);
  assert.match(output, /^service shop: created$/m);
  assert.match(output, /^7 created, 0 updated, 0 unchanged$/m);
  assert.deepEqual(await ask('/v1/orders?x=1'), [200, '/v1/orders?x=1']);
  assert.deepEqual(await ask('/v1/orders/7'), [200, '/v1/orders/7']);
  assert.equal((await ask('/v1/orders/seven'))[0], 400);
  assert.equal((await ask('/v1/orders/latest'))[0], 418);
  assert.equal((await ask('/v1/orders/7/more'))[0], 404);
  assert.equal((await ask('/orders'))[0], 404);
  assert.deepEqual((await gateway.admin('GET', '/routes/getOrder')).body['tags'], ['shop']);
  const reference = (await gateway.admin('GET', '/apis/shop/reference')).body;
  assert.equal((reference['operations'] as readonly unknown[]).length, 3);
});

test('a second run changes nothing; what was set by hand stays', async () => {
  await gateway.admin('PATCH', '/services/shop', { retries: 2 });
  const before = (await gateway.admin('GET', '/services/shop')).body;
  const { code, output } = await cli(document(), '--tags', 'shop', '--validate');
  assert.equal(code, 0, output);
  assert.equal(output.trim(), '0 created, 0 updated, 7 unchanged');
  assert.deepEqual((await gateway.admin('GET', '/services/shop')).body, before);
  const untagged = await cli(document(), '--validate');
  assert.equal(untagged.output.trim(), '0 created, 0 updated, 7 unchanged', 'tags are kept when none are given');
});

test('a changed document updates what differs, and reports routes that it no longer has', async () => {
  const changed = document('  /teas:\n    get: { operationId: teas, responses: {} }\n').replace('getOrder', 'oneOrder');
  const { output } = await cli(changed, '--tags', 'tea', '--validate');
  assert.match(output, /^route teas: created$/m);
  assert.match(output, /^route listOrders: updated$/m);
  assert.match(output, /^route getOrder: not in the document, left unchanged$/m);
  assert.equal((await ask('/v1/teas'))[0], 200);
});

test('routes of another service are not changed', async () => {
  const { code, output } = await cli(document(), '--name', 'other');
  assert.equal(code, 1);
  assert.match(output, /^Error: route listOrders belongs to another service: .*--route-prefix/m);
  assert.equal((await gateway.admin('GET', '/services/other')).status, 404, 'nothing is written before');
  assert.equal((await cli(document(), '--name', 'other', '--route-prefix', 'other-')).code, 0);
});

test('a token is sent, and requested when it is missing', async () => {
  await using guarded = await startTestGateway({ settings: { adminToken: 'secret-token' } });
  const missing = await cli(document(), '--admin', guarded.adminUrl);
  assert.deepEqual(missing, {
    code: 1,
    output: 'Error: the Admin API requires a token: set SLUICEGATE_ADMIN_TOKEN, or pass --token-file or --token\n',
  });
  const { code, output } = await cli(document(), '--admin', guarded.adminUrl, '--token', 'secret-token');
  assert.equal(code, 0, output);
  assert.doesNotMatch(output, /secret-token/);
});

test('without --admin it finds the node of the prefix, also on a port that the system chose, and its token', async () => {
  const prefix = join(folder, 'node');
  const token = 'a-token-of-the-node';
  const env = {
    PATH: process.env['PATH'],
    KONG_PREFIX: prefix,
    SLUICEGATE_ADMIN_TOKEN: token,
    KONG_PROXY_LISTEN: '127.0.0.1:0',
    KONG_ADMIN_LISTEN: '127.0.0.1:0',
    KONG_STATUS_LISTEN: 'off',
    KONG_ADMIN_GUI_LISTEN: 'off',
    KONG_NGINX_WORKER_PROCESSES: '1',
    NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../.runtime/compile-cache'),
  };
  writeFileSync(join(folder, 'shop.yaml'), document());
  const importing = (): Promise<{ readonly code: number; readonly text: string }> =>
    new Promise((resolve) => {
      execFile(process.execPath, [main, 'import', 'openapi', 'shop.yaml'], { cwd: folder, env }, (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, text: out + err }),
      );
    });
  const alone = await importing();
  assert.equal(alone.code, 1);
  assert.match(
    alone.text,
    /^Error: Sluicegate is not running in .*node: start it, or pass the URL of an Admin API with --admin$/m,
  );
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'start'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  try {
    for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('Try:')) break;
    child.stdout.resume();
    const { code, text } = await importing();
    assert.equal(code, 0, text);
    assert.match(text, /^service shop: created$/m);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
});

test('a refusal of the Admin API is reported', async () => {
  const { code, output } = await cli(document(), '--name', 'bad name/x', '--route-prefix', 'bad-');
  assert.equal(code, 1);
  assert.match(output, /^Error: PUT \/services\/bad%20name%2Fx: 400 /m);
});
