import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';

const hello = fileURLToPath(new URL('../../../examples/plugins/hello/index.ts', import.meta.url));

let gateway: TestGateway;
let backend: TestBackend;

before(async () => {
  backend = await startBackend();
  gateway = await startTestGateway({ settings: { plugins: ['bundled', hello] } });
  for (const name of ['one', 'two']) {
    await created('/services', { name, url: backend.url });
    await created(`/services/${name}/routes`, { name, paths: [`/${name}`] });
  }
});

after(async () => {
  await gateway.stop();
  await backend.close();
});

async function created(path: string, body: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await gateway.admin('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return String(answer.body['id']);
}

/** Runs with plugins attached, and removes them afterwards. */
async function withPlugins(
  plugins: readonly (readonly [path: string, body: Readonly<Record<string, unknown>>])[],
  use: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  const ids: string[] = [];
  try {
    for (const [path, body] of plugins) ids.push(await created(path, body));
    await use(ids);
  } finally {
    for (const id of ids) await gateway.admin('DELETE', `/plugins/${id}`);
  }
}

function get(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(gateway.proxyUrl + path, init);
}

async function message(path: string): Promise<unknown> {
  const { message: text } = (await (await get(path)).json()) as { message?: unknown };
  return text;
}

function termination(text: string): Readonly<Record<string, unknown>> {
  return { name: 'request-termination', config: { status_code: 418, message: text } };
}

test('the most specific instance answers, and the next one when it is removed', async () => {
  await withPlugins(
    [
      ['/plugins', termination('global')],
      ['/services/one/plugins', termination('service')],
      ['/routes/one/plugins', termination('route')],
    ],
    async ([, service, route]) => {
      assert.equal(await message('/one'), 'route');
      assert.equal(await message('/two'), 'global');
      await gateway.admin('PATCH', `/plugins/${route}`, { enabled: false });
      assert.equal(await message('/one'), 'service');
      await gateway.admin('DELETE', `/plugins/${service}`);
      assert.equal(await message('/one'), 'global');
    },
  );
  assert.equal((await get('/one')).status, 200);
});

test('a changed configuration is in effect when the Admin API has answered', async () => {
  await withPlugins([['/routes/one/plugins', termination('first')]], async ([id]) => {
    for (const text of ['second', 'third']) {
      const answer = await gateway.admin('PATCH', `/plugins/${id}`, { config: { message: text } });
      assert.equal(answer.status, 200);
      assert.equal(await message('/one'), text);
    }
  });
});

test('a denied client is rejected before the request is terminated, and scripts can read why', async () => {
  await withPlugins(
    [
      ['/plugins', { name: 'cors', config: { origins: ['https://a.test', 'https://b.test'], credentials: true } }],
      ['/routes/one/plugins', { name: 'ip-restriction', config: { deny: ['127.0.0.0/8'] } }],
      ['/routes/one/plugins', termination('never seen')],
      ['/plugins', { name: 'correlation-id', config: { echo_downstream: true } }],
    ],
    async () => {
      const refused = await get('/one', { headers: { Origin: 'https://b.test' } });
      assert.equal(refused.status, 403);
      assert.match(await refused.text(), /IP address not allowed: 127\.0\.0\.1/);
      assert.equal(refused.headers.get('access-control-allow-origin'), 'https://b.test');
      assert.match(refused.headers.get('kong-request-id') ?? '', /#\d+$/);
      const unrouted = await get('/nothing', { headers: { Origin: 'https://a.test' } });
      assert.equal(unrouted.status, 404);
      assert.equal(unrouted.headers.get('access-control-allow-origin'), 'https://a.test');
    },
  );
});

test('a preflight is answered by the gateway', async () => {
  await withPlugins([['/services/one/plugins', { name: 'cors', config: { max_age: 60 } }]], async () => {
    const seen = backend.requests.length;
    const headers = { Origin: 'https://a.test', 'Access-Control-Request-Method': 'PUT' };
    const answer = await get('/one', { method: 'OPTIONS', headers });
    assert.deepEqual([answer.status, await answer.text()], [200, '']);
    assert.equal(answer.headers.get('access-control-max-age'), '60');
    assert.equal(backend.requests.length, seen);
  });
});

test('an id that the gateway generates reaches the backend', async () => {
  await withPlugins(
    [['/services/one/plugins', { name: 'correlation-id', config: { header_name: 'X-Trace' } }]],
    async () => {
      const echo = (await (await get('/one')).json()) as { headers: Record<string, string> };
      assert.match(echo.headers['x-trace'] ?? '', /#\d+$/);
    },
  );
});

test('an echo describes a request with its body', async () => {
  const config = { echo: true, status_code: 200 };
  await withPlugins([['/routes/one/plugins', { name: 'request-termination', config }]], async () => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await get('/one/x?y=1', { method: 'POST', headers, body: '{"z":[1]}' });
    const echo = (await answer.json()) as Record<string, Record<string, unknown>>;
    assert.deepEqual(echo['request']?.['body'], { z: [1] });
    assert.equal(echo['request']?.['path'], '/one/x');
    assert.equal(echo['matched_route']?.['name'], 'one');
    const large = await get('/one', { method: 'POST', headers, body: 'x'.repeat(1024 * 1024 + 1) });
    assert.equal(large.status, 413);
  });
});

test('a third-party plugin is configured and runs like a bundled one', async () => {
  await withPlugins([['/services/two/plugins', { name: 'hello', config: { banned: ['Bob'] } }]], async () => {
    const answer = await get('/two?name=Ada');
    assert.equal(answer.headers.get('x-hello'), 'Hello, Ada!');
    const echo = (await answer.json()) as { headers: Record<string, string> };
    assert.equal(echo.headers['x-greeted'], 'Ada');
    assert.equal((await get('/two?name=Bob')).status, 403);
  });
});

test('an invalid configuration changes nothing and reports the field and the reason', async () => {
  const cases: readonly (readonly [string, Readonly<Record<string, unknown>>, unknown])[] = [
    ['ip-restriction', { allow: ['nonsense'] }, { config: { allow: ["invalid ip or cidr range: 'nonsense'"] } }],
    ['request-termination', { content_type: 'text/html' }, { config: 'content_type requires a body' }],
    ['cors', { origins: ['('] }, { config: { origins: ["'(' is not a valid regex"] } }],
    ['hello', { status: 200 }, { config: { status: 'value should be between 400 and 499' } }],
  ];
  for (const [name, config, fields] of cases) {
    const answer = await gateway.admin('POST', '/plugins', { name, config });
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body['fields'], fields);
  }
  assert.deepEqual((await gateway.admin('GET', '/plugins')).body['data'], []);
});

test('a plugin that cannot be loaded is reported once, whatever the number of workers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-broken-'));
  const file = join(folder, 'broken.mjs');
  writeFileSync(file, "export default {\n  name: 'x'\n  version: 1,\n};\n");
  const main = join(import.meta.dirname, '../../main.ts');
  const anywhere = '127.0.0.1:0';
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', main, 'start'],
      {
        encoding: 'utf8',
        timeout: 30_000,
        env: {
          KONG_PREFIX: join(folder, 'prefix'),
          KONG_PROXY_LISTEN: anywhere,
          KONG_ADMIN_LISTEN: anywhere,
          KONG_STATUS_LISTEN: 'off',
          KONG_ADMIN_GUI_LISTEN: 'off',
          KONG_NGINX_WORKER_PROCESSES: '3',
          KONG_PLUGINS: `bundled,${file}`,
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        },
      },
    );
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^Error: plugins: '.*broken\.mjs' cannot be loaded: .* \(.*broken\.mjs:3:3\)\n$/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
