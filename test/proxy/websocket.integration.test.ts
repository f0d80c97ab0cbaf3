import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { http2Settings } from '../support/http2-rig.ts';
import { openWebSocket, type WebSocketEndpoint } from '../support/websocket-client.ts';

const endpoints: readonly WebSocketEndpoint[] = ['HTTP/1.1', 'HTTP/2', 'HTTP/2 over TLS'];

for (const endpoint of endpoints)
  describe(`WebSocket over ${endpoint}`, () => {
    let gateway: TestGateway;
    const server = createServer();
    const sockets = new WebSocketServer({ server, path: '/echo' });
    /** Requests of the handshakes, as the backend received them. */
    const handshakes: import('node:http').IncomingMessage[] = [];
    const closes: number[] = [];

    before(async () => {
      sockets.on('connection', (socket, incoming) => {
        handshakes.push(incoming);
        socket.on('message', (data: RawData, binary) => {
          if (data.toString() === 'close me') socket.close(4001, 'as asked');
          else if (data.toString() === 'drop me') socket.terminate();
          else socket.send(data, { binary });
        });
        socket.on('close', (code) => closes.push(code));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      gateway = await startTestGateway({ settings: http2Settings() });
      const { port } = server.address() as AddressInfo;
      await gateway.admin('PUT', '/services/socket', { url: `http://127.0.0.1:${port}` });
      await gateway.admin('PUT', '/services/socket/routes/socket', { paths: ['/ws'] });
      await gateway.admin('POST', '/routes/socket/plugins', {
        name: 'correlation-id',
        config: { echo_downstream: true },
      });
    });
    after(async () => {
      await gateway.stop();
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      server.close();
    });

    async function open(path = '/ws/echo'): Promise<WebSocket> {
      return await openWebSocket(endpoint, gateway, path);
    }

    async function echoed(socket: WebSocket, data: string | Buffer): Promise<Buffer> {
      const message = once(socket, 'message');
      socket.send(data);
      return (await message)[0] as Buffer;
    }

    it('echoes text and binary', async () => {
      const socket = await open();
      assert.equal(String(await echoed(socket, 'hello')), 'hello');
      const bytes = Buffer.from([0, 13, 10, 13, 10, 255]);
      assert.deepEqual(await echoed(socket, bytes), bytes);
      socket.close();
      await once(socket, 'close');
    });

    it('forwards large messages both ways', async () => {
      const socket = await open();
      const large = Buffer.alloc(5 * 1024 * 1024, 'z');
      assert.deepEqual(await echoed(socket, large), large);
      socket.terminate();
    });

    it('keeps the order of many messages', async () => {
      const socket = await open();
      const received: string[] = [];
      const done = new Promise<void>((resolve) => {
        socket.on('message', (data) => {
          received.push(String(data));
          if (received.length === 500) resolve();
        });
      });
      for (let index = 0; index < 500; index++) socket.send(`m${index}`);
      await done;
      assert.deepEqual(
        received,
        Array.from({ length: 500 }, (_, index) => `m${index}`),
      );
      socket.terminate();
    });

    it('answers pings', async () => {
      const socket = await open();
      const pong = once(socket, 'pong');
      socket.ping('are you there');
      assert.equal(String((await pong)[0]), 'are you there');
      socket.terminate();
    });

    it("forwards the backend's close code and reason", async () => {
      const socket = await open();
      const closed = once(socket, 'close');
      socket.send('close me');
      const [code, reason] = await closed;
      assert.equal(code, 4001);
      assert.equal(String(reason), 'as asked');
    });

    it("forwards the client's close code", async () => {
      const socket = await open();
      const before = closes.length;
      socket.close(4002);
      await once(socket, 'close');
      while (closes.length === before) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(closes.at(-1), 4002);
    });

    it('closes abnormally when the backend connection is lost', async () => {
      const socket = await open();
      socket.on('error', () => {});
      const closed = once(socket, 'close');
      socket.send('drop me');
      assert.equal((await closed)[0], 1006);
    });

    it('sends forwarding headers and headers of plugins with the handshake', async () => {
      const socket = await open();
      const { headers, url } = handshakes.at(-1) as (typeof handshakes)[number];
      assert.equal(url, '/echo');
      assert.equal(headers['x-forwarded-prefix'], '/ws');
      assert.equal(headers['x-forwarded-for'], '127.0.0.1');
      assert.match(String(headers['kong-request-id']), /./);
      assert.match(String(headers.connection), /upgrade/i);
      assert.equal(String(headers.upgrade).toLowerCase(), 'websocket');
      socket.terminate();
    });

    it('forwards the answer of a backend that does not upgrade', async () => {
      await assert.rejects(open('/ws/elsewhere'), /answered 400/);
    });

    it('answers 404 when no route matches', async () => {
      await assert.rejects(open('/nowhere'), /answered 404/);
    });
  });
