import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BackendScript, byName, type RawBackend, startRawBackend } from '../../../test/support/raw-backend.ts';
import { openClient } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

let rig: Rig;
let silent: RawBackend;

const script: BackendScript = byName({
  silence: async (connection) => {
    await connection.closed;
  },
  pause: async (connection) => {
    connection.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
    await connection.closed;
  },
  trickle: async (connection) => {
    connection.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
    const timer = setInterval(() => connection.write('x'), 20);
    await connection.closed;
    clearInterval(timer);
  },
});

before(async () => {
  rig = await startRig({ script, settings: { plugins: ['timeouts'] } });
  // Accepts connections, but neither speaks TLS nor reads.
  silent = await startRawBackend(async (connection) => {
    connection.socket.pause();
    await connection.closed;
  });
  await rig.write('PUT', '/services/tls', { url: silent.url.replace('http:', 'https:'), retries: 0 });
  await rig.write('PUT', '/services/deaf', { url: silent.url, retries: 0 });
});
after(async () => {
  await rig.close();
  await silent.close();
});

async function limited(service: string, config: Readonly<Record<string, number>>): Promise<string> {
  const name = `${service}-${Object.keys(config).join('-')}`;
  await rig.write('PUT', `/services/${service}/routes/${name}`, { paths: [`/${name}`] });
  await rig.write('POST', `/routes/${name}/plugins`, { name: 'timeouts', config });
  return `/${name}`;
}

async function timedOut(path: string, rest = ''): Promise<string> {
  using client = await openClient(rig.port);
  client.write(rest === '' ? `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n` : rest);
  const response = await client.readResponse();
  assert.equal(response.status, 504);
  assert.match(response.body, /^The upstream server is timing out\n/);
  return response.all('x-upstream-timeout')[0] ?? 'none';
}

test('reports a connect timeout, including TLS', async () => {
  assert.equal(await timedOut(await limited('tls', { connect: 100 })), 'connect');
});

test('reports a send timeout', async () => {
  const path = await limited('deaf', { send: 200 });
  const body = 'x'.repeat(16 * 1024 * 1024);
  const request = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  assert.equal(await timedOut(path, request), 'send');
});

test('reports a timeout of the first byte', async () => {
  assert.equal(await timedOut(`${await limited('backend', { first_byte: 100 })}/silence`), 'first-byte');
});

test('reports a timeout of the whole request', async () => {
  assert.equal(await timedOut(`${await limited('backend', { total: 150 })}/silence`), 'total');
});

test('aborts an answer that pauses too long, and one that takes too long in total', async () => {
  for (const [config, target] of [
    [{ idle: 100 }, 'pause'],
    [{ total: 200, idle: 5000 }, 'trickle'],
  ] as const) {
    using client = await openClient(rig.port);
    client.write(`GET ${await limited('backend', config)}/${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const begun = performance.now();
    assert.equal((await client.readResponse()).complete, false);
    assert.ok(performance.now() - begun < 4000, target);
  }
});

test('does not affect a request that is in time', async () => {
  const path = await limited('backend', { connect: 2000, send: 2000, first_byte: 2000, idle: 2000, total: 2000 });
  using client = await openClient(rig.port);
  client.write(`GET ${path}/other HTTP/1.1\r\nHost: a\r\n\r\n`);
  assert.equal((await client.readResponse()).status, 404);
});

test('requires at least one timeout', async () => {
  const answer = await rig.gateway.admin('POST', '/plugins', { name: 'timeouts', config: {} });
  assert.equal(answer.status, 400);
});
