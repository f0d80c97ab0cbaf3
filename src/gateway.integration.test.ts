import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBackend } from '../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../test/support/gateway.ts';
import { testSettings } from '../test/support/settings.ts';
import { startGateway } from './gateway.ts';

const inTest = { ownsProcess: false };

async function addRoute(gateway: TestGateway, name: string, url: string): Promise<void> {
  const service = await gateway.admin('POST', '/services', { name, url });
  assert.equal(service.status, 201);
  const route = await gateway.admin('POST', `/services/${name}/routes`, { name, paths: [`/${name}`] });
  assert.equal(route.status, 201);
}

/** A GET on a new connection, so that the kernel may give it to any worker. */
function get(url: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        body += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('a request is routed on every worker as soon as the 201 is read', async () => {
  await using backend = await startBackend();
  await using gateway = await startTestGateway({ settings: { workers: 2 } });
  await addRoute(gateway, 'users', backend.url);
  const answers = await Promise.all(Array.from({ length: 20 }, () => get(`${gateway.proxyUrl}/users/42`)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array.from({ length: 20 }, () => 200),
  );
  assert.equal(backend.requests[0]?.url, '/42');
  for (let turn = 0; turn < 10; turn++) {
    const path = `/turn-${turn}`;
    assert.equal((await gateway.admin('PATCH', '/routes/users', { paths: [path] })).status, 200);
    const both = await Promise.all([get(gateway.proxyUrl + path), get(gateway.proxyUrl + path)]);
    assert.deepEqual(
      both.map(({ status }) => status),
      [200, 200],
    );
  }
  assert.equal((await gateway.admin('DELETE', '/routes/users')).status, 204);
  assert.equal((await get(`${gateway.proxyUrl}/turn-9`)).status, 404);
});

test('the config and the node id survive a restart', async () => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-restart-'));
  await using backend = await startBackend();
  try {
    const first = await startTestGateway({ settings: { prefix } });
    await addRoute(first, 'kept', backend.url);
    const { node_id: id } = (await first.admin('GET', '/')).body;
    await first.stop();
    const second = await startTestGateway({ settings: { prefix } });
    assert.equal((await get(`${second.proxyUrl}/kept`)).status, 200);
    assert.equal((await second.admin('GET', '/')).body['node_id'], id);
    await second.stop();
  } finally {
    await rm(prefix, { recursive: true, force: true });
  }
});

test('a graceful stop finishes requests in flight and accepts no new connection', async () => {
  const arrived = Promise.withResolvers<() => void>();
  await using backend = await startBackend({
    handler: (_request, response) => arrived.resolve(() => response.end('late')),
  });
  await using gateway = await startTestGateway();
  await addRoute(gateway, 'slow', backend.url);
  const answer = get(`${gateway.proxyUrl}/slow`);
  const finish = await arrived.promise;
  const stopped = gateway.gateway.stop(true);
  await assert.doesNotReject(async () => {
    // The listener closes in the drain's first turn of the event loop; until then a connection may still be accepted.
    while ((await get(`${gateway.proxyUrl}/none`).catch(() => null)) !== null);
  });
  finish();
  assert.deepEqual(await answer, { status: 200, body: 'late' });
  await stopped;
});

test('a second stop without grace ends at once', async () => {
  const arrived = Promise.withResolvers<void>();
  await using backend = await startBackend({ handler: () => arrived.resolve() });
  await using gateway = await startTestGateway({ settings: { drainTimeout: 600_000 } });
  await addRoute(gateway, 'stuck', backend.url);
  const cutOff = assert.rejects(get(`${gateway.proxyUrl}/stuck`));
  await arrived.promise;
  const graceful = gateway.gateway.stop(true);
  await gateway.gateway.stop(false);
  await graceful;
  await cutOff;
});

test('the data plane serves while the control plane is blocked', async () => {
  await using gateway = await startTestGateway();
  assert.equal((await gateway.admin('POST', '/routes', { name: 'r', paths: ['/held'] })).status, 201);
  const plugin = { name: 'request-termination', config: { status_code: 418, message: 'here' } };
  assert.equal((await gateway.admin('POST', '/routes/r/plugins', plugin)).status, 201);
  // This is the thread of the control plane, and it is blocked until curl has ended.
  const script =
    "fetch(process.argv[1]).then(async (answer) => process.stdout.write(answer.status + ' ' + (await answer.text())))";
  const output = execFileSync(process.execPath, ['-e', script, `${gateway.proxyUrl}/held`], { encoding: 'utf8' });
  assert.match(output, /^418 .*here/);
});

test('a start with a port in use fails with one line, and leaves nothing running', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-port-'));
  const settings = testSettings({ prefix });
  const taken = { ...settings, proxyListen: [{ ...settings.proxyListen[0]!, port }] };
  await assert.rejects(startGateway(taken, [], inTest), {
    message: `cannot listen on 127.0.0.1:${port}: address already in use`,
  });
  other.close();
  await rm(prefix, { recursive: true, force: true });
});

test('a node starts without its dashboard when nobody chose the address and another program uses it', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-gui-'));
  const settings = testSettings({ prefix });
  const taken = { ...settings.adminListen[0]!, ip: '127.0.0.1', port, reuseport: false };
  await assert.rejects(startGateway({ ...settings, adminGuiListen: [taken] }, [], inTest), {
    message: `cannot listen on 127.0.0.1:${port}: address already in use`,
  });
  const gateway = await startGateway(
    {
      ...settings,
      adminGuiListen: [
        { ...taken, optional: true },
        { ...taken, port: 0 },
      ],
    },
    [],
    inTest,
  );
  assert.equal(gateway.addresses.dashboard.length, 1, 'only what it listens on');
  assert.notEqual(gateway.addresses.dashboard[0]?.port, port);
  const admin = `http://127.0.0.1:${gateway.addresses.admin[0]?.port}`;
  assert.equal((await fetch(admin)).status, 200);
  await gateway.stop(false);
  assert.match(await readFile(settings.adminErrorLog, 'utf8'), /starting without the dashboard/);
  other.close();
  await rm(prefix, { recursive: true, force: true });
});

test('a start with a store that cannot be opened fails with one line', async () => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-store-'));
  await writeFile(join(prefix, 'store.sqlite'), 'this is not a database, whatever its name says'.repeat(100));
  const settings = testSettings({ prefix });
  await assert.rejects(startGateway(settings, [], inTest), (error: Error) => {
    assert.match(error.message, /store\.sqlite/);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  });
  await rm(prefix, { recursive: true, force: true });
});

test('a start with a prefix that cannot be created fails with one line', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'sluicegate-prefix-'));
  await writeFile(join(parent, 'file'), '');
  await chmod(join(parent, 'file'), 0o444);
  await assert.rejects(
    startGateway(testSettings({ prefix: join(parent, 'file', 'prefix') }), []),
    /cannot write to the prefix/,
  );
  await rm(parent, { recursive: true, force: true });
});

test('a start with a certificate that cannot be read fails with one line', async () => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-tls-'));
  const settings = testSettings({ prefix });
  const secure = { ...settings.proxyListen[0]!, ssl: true, listener: '127.0.0.1:0 ssl' };
  const broken = { ...settings, proxyListen: [secure], sslCert: ['/nowhere.pem'], sslCertKey: ['/nowhere.key'] };
  await assert.rejects(startGateway(broken, [], inTest), /^Error: ssl_cert: cannot read \/nowhere\.pem: /);
  await rm(prefix, { recursive: true, force: true });
});

test('sums connections and requests of all workers', async () => {
  await using backend = await startBackend();
  await using gateway = await startTestGateway({ settings: { workers: 2 } });
  await addRoute(gateway, 'users', backend.url);
  await Promise.all(Array.from({ length: 10 }, () => get(`${gateway.proxyUrl}/users`)));
  const { server } = (await gateway.admin('GET', '/status')).body as { server: Record<string, number> };
  assert.equal(server['total_requests'], 10);
  assert.equal(server['connections_accepted'], 10);
});

test('logs the start with the warnings of the settings', async () => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-log-'));
  const gateway = await startGateway(testSettings({ prefix }), ['a setting is odd'], inTest);
  await gateway.stop(false);
  assert.match(await readFile(join(prefix, 'error.log'), 'utf8'), /a setting is odd/);
  await rm(prefix, { recursive: true, force: true });
});

test('applies settings from the environment to the proxy', async () => {
  await using gateway = await startTestGateway({ env: { KONG_HEADERS: 'off', KONG_NGINX_WORKER_PROCESSES: '2' } });
  const response = await fetch(`${gateway.proxyUrl}/nothing`);
  assert.equal(response.status, 404);
  assert.equal(response.headers.get('server'), null);
  const { pids } = (await gateway.admin('GET', '/')).body as { pids: { workers: readonly number[] } };
  assert.equal(pids.workers.length, 2);
});

test('GET / returns the bound port when the setting is 0', async () => {
  await using gateway = await startTestGateway({ env: { KONG_PROXY_LISTEN: '127.0.0.1:0' } });
  const configuration = (await gateway.admin('GET', '/')).body['configuration'] as Record<string, unknown>;
  const [listener] = configuration['proxy_listeners'] as readonly Record<string, unknown>[];
  assert.equal(listener?.['port'], gateway.proxyPort);
  assert.deepEqual(configuration['proxy_listen'], [`127.0.0.1:${gateway.proxyPort}`]);
});

test('logs an uncaught exception in the control plane, and continues', async () => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-mistake-'));
  // In a separate process, because the test runner handles the exceptions of this one.
  const script = `
    const { startGateway } = await import(${JSON.stringify(join(import.meta.dirname, 'gateway.ts'))});
    const { testSettings } = await import(${JSON.stringify(join(import.meta.dirname, '../test/support/settings.ts'))});
    const gateway = await startGateway(testSettings({ prefix: ${JSON.stringify(prefix)} }), []);
    setImmediate(() => { throw new Error('nobody caught me'); });
    Promise.reject(new Error('nor me'));
    await new Promise((resolve) => setTimeout(resolve, 1));
    const { port } = gateway.addresses.proxy[0];
    process.stdout.write(String((await fetch('http://127.0.0.1:' + port)).status));
    await gateway.stop(true);
  `;
  const output = execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
    { encoding: 'utf8' },
  );
  assert.equal(output, '404');
  const log = await readFile(join(prefix, 'error.log'), 'utf8');
  assert.match(log, /nobody caught me/);
  assert.match(log, /nor me/);
  await rm(prefix, { recursive: true, force: true });
});
