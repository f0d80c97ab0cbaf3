import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { testSettings } from '../../../../../test/support/settings.ts';
import { anonymousCaller } from '../../access/caller.ts';
import { HttpError } from '../../http/http-error.ts';
import { ExplainSender } from './explain-sender.ts';

const request = { method: 'GET', path: '/', headers: [], body: null, secure: false, dry: false } as const;
const [listener] = testSettings({ prefix: '/nowhere' }).proxyListen;
assert.ok(listener !== undefined);

async function listening(answer: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    answer(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function sender(
  port: number,
  options: { readonly deadline?: number; readonly closing?: AbortSignal; readonly proxyProtocol?: boolean } = {},
) {
  const { closing = new AbortController().signal, proxyProtocol = false, ...rest } = options;
  const proxyListen = [{ ...listener!, ip: '0.0.0.0', port, proxyProtocol }];
  return new ExplainSender({ settings: { proxyListen }, token: 't', requestKey: 'k', closing, ...rest });
}

function refusal(status: number, message: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof HttpError, String(error));
    assert.equal(error.status, status);
    assert.match(error.message, message);
    return true;
  };
}

test('a listener that does not answer is given up after the deadline, and when the node stops', async () => {
  const sockets: Socket[] = [];
  await using server = await listening((socket) => void sockets.push(socket));
  const { port } = server.address() as AddressInfo;
  const late = sender(port, { deadline: 50 });
  assert.deepEqual(await late.send(request, anonymousCaller, '127.0.0.1'), {
    problem: 'no answer within 0.05 seconds',
  });
  const stop = new AbortController();
  const stopping = sender(port, { closing: stop.signal });
  const sent = stopping.send(request, anonymousCaller, '127.0.0.1');
  stop.abort();
  assert.deepEqual(await sent, { problem: 'the connection to the proxy listener was lost (ABORT_ERR)' });
  await assert.rejects(stopping.send(request, anonymousCaller, '127.0.0.1'), refusal(503, /too many/));
  for (const socket of sockets) socket.destroy();
});

test('an answer that is longer than any explanation is abandoned', async () => {
  const filler = 'x'.repeat(1_048_576);
  await using server = await listening((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
    const write = (): void => {
      while (!socket.destroyed && socket.write(filler));
    };
    socket.on('drain', write);
    write();
  });
  const { port } = server.address() as AddressInfo;
  const sending = sender(port).send(request, anonymousCaller, '127.0.0.1');
  assert.deepEqual(await sending, { problem: 'the connection to the proxy listener was lost' });
});

test('without a listener that takes requests nothing is sent; one that is closed is reported', async () => {
  const behind = sender(1, { proxyProtocol: true });
  await assert.rejects(behind.send(request, anonymousCaller, '127.0.0.1'), refusal(400, /without the PROXY protocol/));
  const secure = sender(1).send({ ...request, secure: true }, anonymousCaller, '127.0.0.1');
  await assert.rejects(secure, refusal(400, /no proxy listener with TLS/));
  const server = await listening(() => {});
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  await assert.rejects(sender(port).send(request, anonymousCaller, '127.0.0.1'), refusal(503, /ECONNREFUSED/));
});
