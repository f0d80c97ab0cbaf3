import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttp2Server, createSecureServer, type Http2Server } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import { startBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { activeChecks, startHealthRig } from '../support/health-rig.ts';
import { selfSigned } from '../support/self-signed.ts';
import { startSynBlackHole } from '../support/syn-black-hole.ts';
import { until } from '../support/until.ts';

/** A server of this test; closing it closes its connections. */
async function listening(server: Server | Http2Server): Promise<{ target: string; port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  if (!server.listening) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const { port } = server.address() as AddressInfo;
  return {
    port,
    target: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

let gateway: TestGateway;
before(async () => {
  gateway = await startTestGateway({ settings: { workers: 2 } });
});
after(() => gateway?.stop());

describe('active health checks', () => {
  it('mark a target unhealthy by its status, and healthy again', async () => {
    let status = 200;
    await using bad = await startBackend({ handler: (_, response) => response.writeHead(status).end('bad') });
    await using good = await startBackend({ handler: (_, response) => response.end('good') });
    const [badTarget, goodTarget] = [`127.0.0.1:${bad.port}`, `127.0.0.1:${good.port}`];
    await using rig = await startHealthRig({ gateway, healthchecks: activeChecks(), targets: [badTarget, goodTarget] });
    assert.deepEqual(await rig.health(), { [badTarget]: 'HEALTHY', [goodTarget]: 'HEALTHY' });
    for (let round = 0; round < 3; round++) {
      status = 503;
      await rig.becomes(badTarget, 'UNHEALTHY');
      for (let count = 0; count < 10; count++) assert.equal((await rig.get()).body, 'good');
      status = 200;
      await rig.becomes(badTarget, 'HEALTHY');
      const seen = new Set<string>();
      for (let count = 0; count < 10; count++) seen.add((await rig.get()).body);
      assert.deepEqual([...seen].sort(), ['bad', 'good']);
    }
  });

  it('send probes as configured, one at a time, once for all workers and services', async () => {
    const seen: { url: string; headers: Readonly<Record<string, unknown>>; version: string }[] = [];
    let open = 0;
    let most = 0;
    await using backend = await startBackend({
      handler: (request, response) => {
        most = Math.max(most, ++open);
        seen.push({ url: request.url ?? '', headers: request.headers, version: request.httpVersion });
        setTimeout(() => {
          open--;
          response.end();
        }, 150);
      },
    });
    await using rig = await startHealthRig({
      gateway,
      healthchecks: activeChecks({ http_path: '/live', headers: { 'X-Probe': ['a', 'b'] } }),
      upstream: { host_header: 'app.test' },
      targets: [`127.0.0.1:${backend.port}`],
    });
    await rig.write('PUT', '/services/other', { host: 'pool' });
    await until(() => seen.length >= 4);
    assert.equal(most, 1);
    const [{ url, headers, version }] = seen as [(typeof seen)[0]];
    assert.equal(version, '1.0');
    assert.equal(url, '/live');
    assert.equal(headers['host'], 'app.test');
    assert.equal(headers['x-probe'], 'a, b');
  });

  it('count answers that are not HTTP, refused connections and early closes as failures', async () => {
    await using garbage = await listening(createServer((socket) => socket.end('220 mail.test ESMTP\r\n')));
    await using closing = await listening(createServer((socket) => socket.destroy()));
    await using flood = await listening(createServer((socket) => socket.write('x'.repeat(100_000))));
    const gone = await listening(createServer());
    const { target: refused } = gone;
    await gone[Symbol.asyncDispose]();
    const targets = [garbage.target, closing.target, flood.target, refused];
    await using rig = await startHealthRig({ gateway, healthchecks: activeChecks(), targets });
    for (const target of targets) await rig.becomes(target, 'UNHEALTHY');
    assert.equal((await rig.get()).status, 503);
  });

  for (const [what, behave] of [
    ['accepts and never answers', () => {}],
    [
      'answers one byte at a time and never ends',
      (socket: Socket) => {
        const timer = setInterval(() => socket.write('H'), 20);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ] as const) {
    it(`mark a target that ${what} unhealthy within one check`, async (t) => {
      let black = false;
      let probes = 0;
      const server = createServer((socket) => {
        if (!black) {
          socket.end('HTTP/1.0 200 OK\r\n\r\n');
          return;
        }
        probes++;
        behave(socket);
      });
      await using hole = await listening(server);
      await using rig = await startHealthRig({
        gateway,
        healthchecks: activeChecks({ timeout: 0.4, healthy: { interval: 0.3 }, unhealthy: { interval: 60 } }),
        targets: [hole.target],
      });
      await once(server, 'connection');
      black = true;
      const begun = performance.now();
      await rig.becomes(hole.target, 'UNHEALTHY');
      t.diagnostic(`out after ${Math.round(performance.now() - begun)} ms; interval and time-out are 700 ms`);
      assert.equal(probes, 1);
    });
  }

  it('mark a target unhealthy when no connection is made in time', async (t) => {
    await using hole = await startSynBlackHole();
    await using backend = await startBackend();
    const target = `127.0.0.1:${hole.port}`;
    const begun = performance.now();
    await using rig = await startHealthRig({
      gateway,
      healthchecks: activeChecks({ timeout: 0.4, healthy: { interval: 0.3 } }),
      targets: [target, `127.0.0.1:${backend.port}`],
    });
    await rig.becomes(target, 'UNHEALTHY');
    assert.match(await rig.lastReason(), /no connection was made within 400 ms/);
    t.diagnostic(`out after ${Math.round(performance.now() - begun)} ms, with the writes of its config`);
    for (let count = 0; count < 6; count++) assert.equal((await rig.get()).status, 200);
  });

  it('only connect over TCP', async () => {
    let bytes = 0;
    const server = createServer((socket) => socket.on('data', (data) => (bytes += data.length)));
    await using backend = await listening(server);
    await using rig = await startHealthRig({
      gateway,
      healthchecks: activeChecks({ type: 'tcp' }),
      targets: [backend.target],
    });
    await once(server, 'connection');
    await once(server, 'connection');
    assert.equal((await rig.health())[backend.target], 'HEALTHY');
    assert.equal(bytes, 0);
    await backend[Symbol.asyncDispose]();
    await rig.becomes(backend.target, 'UNHEALTHY');
  });

  it('verify the certificate and send the server name over HTTPS', async () => {
    const { cert, key } = selfSigned('app.test');
    const names: string[] = [];
    const SNICallback = (name: string, done: (error: null) => void): void => {
      names.push(name);
      done(null);
    };
    const server = createHttpsServer({ cert, key, SNICallback }, (_, response) => response.end());
    await using backend = await listening(server);
    await using rig = await startHealthRig({
      gateway,
      healthchecks: activeChecks({ type: 'https', https_sni: 'app.test' }),
      targets: [backend.target],
    });
    // It is signed by no authority.
    await rig.becomes(backend.target, 'UNHEALTHY');
    assert.ok(names.includes('app.test'));
    assert.match(await rig.lastReason(), /^1 TCP failures .*self-signed certificate/);
    await rig.write('PATCH', '/upstreams/pool', { healthchecks: { active: { https_verify_certificate: false } } });
    await rig.becomes(backend.target, 'HEALTHY');
    // With a name that is not in the certificate, verification fails even if its authority is trusted.
    const folder = await mkdtemp(join(tmpdir(), 'sluicegate-health-'));
    await writeFile(join(folder, 'ca.pem'), cert);
    await using trusting = await startHealthRig({
      healthchecks: activeChecks({ type: 'https', https_sni: 'other.test' }),
      targets: [backend.target],
      settings: { trustedCertificates: join(folder, 'ca.pem') },
    });
    await trusting.becomes(backend.target, 'UNHEALTHY');
    assert.match(await trusting.lastReason(), /altnames/);
    await trusting.write('PATCH', '/upstreams/pool', { healthchecks: { active: { https_sni: 'app.test' } } });
    await trusting.becomes(backend.target, 'HEALTHY');
    await rm(folder, { recursive: true });
  });

  for (const type of ['grpc', 'grpcs'] as const) {
    it(`call the health service over ${type}`, async () => {
      const answers = { status: 1, grpc: '0' };
      const asked: string[] = [];
      const pair = selfSigned('app.test');
      const server = type === 'grpc' ? createHttp2Server() : createSecureServer({ ...pair, ALPNProtocols: ['h2'] });
      server.on('stream', (stream, headers) => {
        asked.push(`${headers[':path']} ${headers['content-type']} ${headers[':authority']}`);
        stream.resume();
        if (answers.grpc !== '0') {
          stream.respond(
            { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': answers.grpc },
            { endStream: true },
          );
          return;
        }
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': answers.grpc }));
        stream.end(Buffer.from([0, 0, 0, 0, 2, 8, answers.status]));
      });
      await using backend = await listening(server);
      await using rig = await startHealthRig({
        gateway,
        healthchecks: activeChecks({ type, https_verify_certificate: false }),
        upstream: { host_header: 'grpc.test' },
        targets: [backend.target],
      });
      await until(() => asked.length >= 2);
      assert.equal(asked[0], '/grpc.health.v1.Health/Check application/grpc grpc.test');
      assert.equal((await rig.health())[backend.target], 'HEALTHY');
      answers.status = 2;
      await rig.becomes(backend.target, 'UNHEALTHY');
      answers.status = 1;
      await rig.becomes(backend.target, 'HEALTHY');
      answers.grpc = '12';
      await rig.becomes(backend.target, 'UNHEALTHY');
    });
  }

  it('work with a real gRPC server, for one of its services', async () => {
    const asked: string[] = [];
    let serving = true;
    const bytes = (value: Buffer): Buffer => value;
    const shape = { requestStream: false, responseStream: false, requestSerialize: bytes, requestDeserialize: bytes };
    const health = {
      check: { path: '/grpc.health.v1.Health/Check', ...shape, responseSerialize: bytes, responseDeserialize: bytes },
    };
    const server = new GrpcServer();
    server.addService(health, {
      check(call: { readonly request: Buffer }, done: (error: null, answer: Buffer) => void) {
        asked.push(call.request.toString('latin1'));
        done(null, Buffer.from([8, serving ? 1 : 2]));
      },
    });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      ),
    );
    try {
      const target = `127.0.0.1:${port}`;
      const healthchecks = activeChecks({ type: 'grpc', http_path: '/orders.v1.Orders' });
      await using rig = await startHealthRig({ gateway, healthchecks, targets: [target] });
      await until(() => asked.length >= 2);
      assert.equal(asked[0], '\n\x10orders.v1.Orders');
      assert.equal((await rig.health())[target], 'HEALTHY');
      serving = false;
      await rig.becomes(target, 'UNHEALTHY');
      assert.match(await rig.lastReason(), /NOT_SERVING/);
      serving = true;
      await rig.becomes(target, 'HEALTHY');
    } finally {
      server.forceShutdown();
    }
  });

  it('mark servers that do not speak gRPC unhealthy over gRPC', async () => {
    await using backend = await startBackend();
    await using rig = await startHealthRig({
      gateway,
      healthchecks: activeChecks({ type: 'grpc' }),
      targets: [`127.0.0.1:${backend.port}`],
    });
    await rig.becomes(`127.0.0.1:${backend.port}`, 'UNHEALTHY');
  });
});
