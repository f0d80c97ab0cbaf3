import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startBackend } from '../../test/support/backend.ts';
import { definePlugin, httpProtocols } from '../plugin-sdk/index.ts';
import { record, string } from '../plugin-sdk/schema.ts';
import { createGateway, type GatewayConfig, GatewayConfigError } from './index.ts';
import { configOf, openGateway } from './testing/test-gateway.ts';

declare module './index.ts' {
  interface PluginConfigs {
    'test-greeting': { readonly text?: string };
    'test-broken': object;
  }
}

const greeting = definePlugin<{ text: string }>({
  name: 'test-greeting',
  version: '1.0.0',
  priority: 500,
  protocols: httpProtocols,
  schema: { config: record({ text: string({ required: true, default: 'Hello', description: 'What it says.' }) }) },
  setup: ({ text }) => ({
    headerFilter: ({ response }) => response.setHeader('X-Greeting', text),
  }),
});

const broken = definePlugin<object>({
  name: 'test-broken',
  version: '1.0.0',
  priority: 400,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({
    access({ request }) {
      if (request.path === '/rejects') return Promise.reject(new Error('planted'));
      throw new Error('planted');
    },
  }),
});

async function get(port: number, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { headers });
}

test('an application listens with the gateway, with bundled plugins and its own', async (t) => {
  await using backend = await startBackend();
  const config = configOf(backend.url, {
    plugins: [
      { name: 'test-greeting', config: { text: 'Hi' } },
      { name: 'key-auth', service: 'backend' },
    ],
    consumers: [{ username: 'ada', keyauth_credentials: [{ key: 'secret-of-ada' }] }],
  });
  const gateway = await openGateway(t, { plugins: [greeting], config });
  const { host, port } = await gateway.listen({ port: 0 });
  assert.equal(host, '127.0.0.1');
  assert.equal((await get(port, '/')).status, 401);
  const answer = await get(port, '/orders?id=1', { apikey: 'secret-of-ada' });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('x-greeting'), 'Hi');
  const seen = (await answer.json()) as { url: string; headers: Record<string, string> };
  assert.equal(seen.url, '/orders?id=1');
  assert.equal(seen.headers['x-consumer-username'], 'ada');
});

test('a config is replaced while requests are in flight, and none fails', async (t) => {
  await using backend = await startBackend();
  const gateway = await openGateway(t, { plugins: [greeting], config: configOf(backend.url) });
  const { port } = await gateway.listen({ port: 0 });
  let done = false;
  const statuses = new Map<number, number>();
  const client = async (): Promise<void> => {
    while (!done) {
      const answer = await get(port, '/');
      await answer.text();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }
  };
  const clients = Array.from({ length: 4 }, client);
  for (let round = 1; round <= 20; round++) {
    await gateway.apply(
      configOf(backend.url, { plugins: [{ name: 'test-greeting', config: { text: `round ${round}` } }] }),
    );
    // Once `apply` has resolved, the next request has the new config.
    assert.equal((await get(port, '/')).headers.get('x-greeting'), `round ${round}`);
  }
  done = true;
  await Promise.all(clients);
  assert.deepEqual([...statuses.keys()], [200]);
});

test('an invalid config is refused as a whole, with the place of each problem, and the one before stays', async (t) => {
  await using backend = await startBackend();
  const gateway = await openGateway(t, { config: configOf(backend.url) });
  const { port } = await gateway.listen({ port: 0 });
  const wrong = {
    services: [
      { name: 'fine', url: backend.url },
      { name: 'typo', url: backend.url, plugins: [{ name: 'rate-limiting', config: { minut: 1 } }] },
    ],
  };
  await assert.rejects(gateway.apply(wrong as unknown as GatewayConfig), (error) => {
    assert.ok(error instanceof GatewayConfigError);
    assert.ok(error.problems.some(({ path }) => path === 'services[1].plugins[0].config.minut'));
    return true;
  });
  await assert.rejects(gateway.apply({ services: [{ name: 'x', url: new Date() }] } as unknown as GatewayConfig), {
    message: 'services[0].url: a Date cannot be in a config',
  });
  assert.equal((await get(port, '/')).status, 200);
});

test('a config may be a promise or a function, and a function that throws is reported', async (t) => {
  await using backend = await startBackend();
  const gateway = await openGateway(t, { config: async () => configOf(backend.url) });
  const { port } = await gateway.listen({ port: 0 });
  assert.equal((await get(port, '/')).status, 200);
  await gateway.apply(Promise.resolve({}));
  assert.equal((await get(port, '/')).status, 404);
  const failing = (): GatewayConfig => {
    throw new Error('ORDERS_URL is not set');
  };
  await assert.rejects(gateway.apply(failing), { message: 'ORDERS_URL is not set' });
});

test('a plugin that throws or rejects is a 500 of that request, in the log of the application', async (t) => {
  await using backend = await startBackend();
  const lines: string[] = [];
  const gateway = await openGateway(t, {
    plugins: [broken],
    config: configOf(backend.url, { plugins: [{ name: 'test-broken', route: 'route-0' }] }, '/throws', '/fine'),
    log: (level, message, fields) => lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
  });
  const { port } = await gateway.listen({ port: 0 });
  assert.equal((await get(port, '/throws')).status, 500);
  assert.equal((await get(port, '/fine')).status, 200);
  assert.ok(lines.some((line) => line.startsWith('error') && line.includes('planted')));
  await gateway.apply(configOf(backend.url, { plugins: [{ name: 'test-broken' }] }));
  assert.equal((await get(port, '/rejects')).status, 500);
});

test('a plugin is loaded by its path from the module that names it, and an error in it has its place', async (t) => {
  await using backend = await startBackend();
  const folder = mkdtempSync(join(tmpdir(), 'embedded-plugin-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, setup: string): void =>
    writeFileSync(
      join(folder, name),
      `import { definePlugin, httpProtocols } from 'sluicegate/plugin-sdk';
       import { record } from 'sluicegate/plugin-sdk/schema';
       export default definePlugin({
         name: 'by-path', version: '1.0.0', priority: 500, protocols: httpProtocols,
         schema: { config: record({}) },
         setup: () => ({ ${setup} }),
       });`,
    );
  write('policy.ts', `headerFilter: ({ response }) => response.setHeader('X-By', 'path')`);
  const from = pathToFileURL(join(folder, 'app.ts'));
  const config = configOf(backend.url, { plugins: [{ name: 'by-path' }] } as unknown as Partial<GatewayConfig>);
  const gateway = await openGateway(t, { plugins: ['./policy.ts'], from, config });
  const { port } = await gateway.listen({ port: 0 });
  assert.equal((await get(port, '/')).headers.get('x-by'), 'path');
  write('broken.ts', 'headerFilter: (');
  await assert.rejects(
    createGateway({ plugins: ['./broken.ts'], from }),
    /'\.\/broken\.ts' cannot be loaded: .*broken\.ts:\d+:\d+/,
  );
});

test('two gateways in one process share nothing, and the end of one is not that of the other', async (t) => {
  await using backend = await startBackend();
  const limited = configOf(backend.url, { plugins: [{ name: 'rate-limiting', config: { hour: 2, policy: 'local' } }] });
  const one = await openGateway(t, { config: limited });
  const other = await openGateway(t, { config: limited });
  const [first, second] = await Promise.all([one.listen({ port: 0 }), other.listen({ port: 0 })]);
  const statuses = async (port: number): Promise<readonly number[]> =>
    [await get(port, '/'), await get(port, '/'), await get(port, '/')].map(({ status }) => status);
  assert.deepEqual(await statuses(first.port), [200, 200, 429]);
  assert.deepEqual(await statuses(second.port), [200, 200, 429]);
  await one.close();
  await assert.rejects(get(first.port, '/'));
  assert.equal((await get(second.port, '/')).status, 429);
  await other.apply(configOf(backend.url));
  assert.equal((await get(second.port, '/')).status, 200);
});

test('a request in flight is answered before the gateway closes, and a slow one is cut off in time', async (t) => {
  let release = (): void => {};
  await using backend = await startBackend({
    handler: (request, response) => {
      if (request.url === '/never') return;
      release = () => response.end('late');
    },
  });
  const gateway = await openGateway(t, { config: configOf(backend.url) });
  const { port } = await gateway.listen({ port: 0 });
  const arrived = new Promise((resolve) => backend.server.once('request', resolve));
  const answer = get(port, '/');
  await arrived;
  const closed = gateway.close();
  assert.throws(() => void gateway.apply({}), { message: 'the gateway is closed' });
  release();
  assert.equal(await (await answer).text(), 'late');
  await closed;

  const next = await openGateway(t, { config: configOf(backend.url) });
  const second = await next.listen({ port: 0 });
  const stuck = new Promise((resolve) => backend.server.once('request', resolve));
  const never = get(second.port, '/never');
  const failed = assert.rejects(never);
  await stuck;
  await next.close({ timeout: 50 });
  await failed;
});

test('what cannot start is refused in one line', async () => {
  const settings = { log_levle: 'warn' };
  await assert.rejects(createGateway({ settings }), {
    message: /unknown setting 'log_levle' \(did you mean log_level\?\)/,
  });
  await assert.rejects(createGateway({ settings: { proxy_listen: '127.0.0.1:0' } }), /use gateway\.listen\(\)/);
  await assert.rejects(
    createGateway({ plugins: ['./no-such-plugin.ts'] }),
    /'\.\/no-such-plugin\.ts' cannot be loaded/,
  );
  const config = { services: [{ name: 'x' }] } as unknown as GatewayConfig;
  await assert.rejects(createGateway({ config, log: () => {} }), GatewayConfigError);
});

test('a taken port and a wrong host are refused in one line', async (t) => {
  const gateway = await openGateway(t);
  const { port } = await gateway.listen({ port: 0 });
  await assert.rejects(gateway.listen({ port }), {
    message: `cannot listen on 127.0.0.1:${port}: address already in use`,
  });
  await assert.rejects(gateway.listen({ port: 0, host: 'localhost' }), { message: /not an IP address/ });
});

test('the Admin API is there when it is asked for, and shows what the application has applied', async (t) => {
  const gateway = await openGateway(t, {
    admin: { listen: '127.0.0.1:0' },
    config: configOf('http://127.0.0.1:1', { plugins: [{ name: 'prometheus' }] }),
  });
  const [admin] = gateway.admin;
  assert.ok(admin !== undefined && admin.port > 0);
  const services = (await (await get(admin.port, '/services')).json()) as { data: { name: string }[] };
  assert.deepEqual(
    services.data.map(({ name }) => name),
    ['backend'],
  );
  assert.match(await (await get(admin.port, '/metrics')).text(), /kong_/);
});
