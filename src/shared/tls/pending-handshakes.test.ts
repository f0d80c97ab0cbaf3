import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect as connectPlain, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { PendingHandshakes } from './pending-handshakes.ts';
import { selfSignedCertificate } from './self-signed.ts';

const servers: Server[] = [];
const sockets: Socket[] = [];
after(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

async function started(max: number, grace: number, hardMax: number) {
  const server = createServer(selfSignedCertificate(2));
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket: TLSSocket) => sockets.push(socket));
  const pending = new PendingHandshakes(server, { max, grace, hardMax });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  const silent = async (): Promise<Socket> => {
    const socket = connectPlain(port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    const seen = once(server, 'connection');
    await Promise.all([once(socket, 'connect'), seen]);
    return socket;
  };
  return { pending, port, silent };
}

test('the oldest handshake is closed when there are too many, and completed ones do not count', async () => {
  const { pending, port, silent } = await started(3, 0, 10);
  const done = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  sockets.push(done);
  await once(done, 'secureConnect');
  const held = [await silent(), await silent(), await silent()];
  const [first] = held;
  assert.ok(first !== undefined);
  const closed = once(first, 'close');
  first.resume();
  held.push(await silent());
  await closed;
  assert.equal(pending.count, 3);
  assert.deepEqual(
    held.slice(1).map((socket) => socket.destroyed),
    [false, false, false],
  );
  assert.equal(done.destroyed, false);
});

test('a new handshake gets its grace time, up to a limit', async () => {
  const { pending, silent } = await started(1, 60_000, 4);
  for (let round = 0; round < 6; round++) await silent();
  assert.equal(pending.count, 4);
  const last = sockets.at(-1) as Socket;
  const closed = once(last, 'close');
  last.resume();
  pending.close();
  await closed;
  assert.equal(pending.count, 0);
});
