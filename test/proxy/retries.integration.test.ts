import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { answer, answerEach, startRawBackend } from '../support/raw-backend.ts';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { startRig } from '../support/rig.ts';

function message(method: string, path = '/'): string {
  const length = method === 'POST' ? 'Content-Length: 5\r\n' : '';
  return `${method} ${path} HTTP/1.1\r\nHost: a\r\n${length}\r\n${method === 'POST' ? 'hello' : ''}`;
}

describe('retries', () => {
  for (const method of ['GET', 'POST']) {
    it(`go to the next target when a connection fails (${method})`, async () => {
      await using rig = await startRig();
      await rig.write('PUT', '/upstreams/pair', {});
      await rig.write('POST', '/upstreams/pair/targets', { target: `127.0.0.1:${await freePort()}` });
      await rig.write('POST', '/upstreams/pair/targets', { target: `127.0.0.1:${rig.backend.port}` });
      await rig.write('PATCH', '/services/backend', { host: 'pair', retries: 5 });
      for (let count = 0; count < 20; count++) {
        assert.equal((await exchangeOne(rig.port, message(method))).status, 200);
      }
      if (method === 'POST') assert.ok(rig.backend.requests.every((request) => request.body === 'hello'));
    });
  }

  it('end after the number that the service allows', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.resetAndDestroy();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    await using rig = await startRig({ service: { url: `http://127.0.0.1:${port}`, retries: 2 } });
    try {
      assert.equal((await exchangeOne(rig.port, message('GET'))).status, 502);
      assert.equal(connections, 3);
    } finally {
      server.close();
    }
  });

  it('are not made for a POST that was sent', async () => {
    const backend = await startRawBackend(async (connection) => {
      await connection.readRequest();
      connection.socket.destroy();
    });
    await using rig = await startRig({ service: { url: backend.url, retries: 5 } });
    try {
      assert.equal((await exchangeOne(rig.port, message('POST'))).status, 502);
      assert.equal(backend.requests.length, 1);
    } finally {
      await backend.close();
    }
  });

  it('are not made after the answer has begun', async () => {
    const backend = await startRawBackend(async (connection) => {
      await connection.readRequest();
      connection.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
    });
    await using rig = await startRig({ service: { url: backend.url, retries: 5 } });
    try {
      using client = await openClient(rig.port);
      client.write(message('GET'));
      const response = await client.readResponse();
      assert.ok(!response.complete || response.status === 502);
      assert.equal(backend.requests.length, 1);
    } finally {
      await backend.close();
    }
  });

  it('are not made for statuses', async () => {
    await using rig = await startRig({
      service: { retries: 5 },
      script: answerEach(() => answer('no', '', '503 Service Unavailable')),
    });
    assert.equal((await exchangeOne(rig.port, message('GET'))).body, 'no');
    assert.equal(rig.backend.requests.length, 1);
  });

  it('hide an idle connection that the backend closed meanwhile', async () => {
    // Every connection serves one request and is closed when a second one arrives.
    const backend = await startRawBackend(async (connection) => {
      const request = await connection.readRequest();
      connection.write(answer(`first of its connection ${request.target}`));
      await connection.readRequestHead();
      connection.socket.destroy();
    });
    await using rig = await startRig({ service: { url: backend.url, retries: 1 } });
    try {
      using client = await openClient(rig.port);
      for (const path of ['/1', '/2', '/3']) {
        client.write(message('GET', path));
        const response = await client.readResponse();
        assert.equal(response.body, `first of its connection ${path}`);
      }
    } finally {
      await backend.close();
    }
  });

  it('end with 504 after a timeout', async () => {
    await using rig = await startRig({
      service: { read_timeout: 200, retries: 1 },
      script: (connection) => connection.closed,
    });
    const begun = performance.now();
    assert.equal((await exchangeOne(rig.port, message('GET'))).status, 504);
    assert.ok(performance.now() - begun >= 200);
    assert.ok(performance.now() - begun < 3_000);
  });
});
