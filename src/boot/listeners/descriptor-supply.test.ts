import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { descriptorOf } from '../../shared/sockets/listening-sockets.ts';
import { DescriptorSupply } from './descriptor-supply.ts';

const skip = process.platform === 'linux' ? false : 'needs /proc';
const socketOf = (descriptor: number): string => readlinkSync(`/proc/self/fd/${descriptor}`);

test('each worker gets a descriptor of its own of the same socket, and so does one that replaces it', {
  skip,
}, async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const original = descriptorOf(server) ?? -1;
  const supply = await DescriptorSupply.open([{ key: 'a', udp: false, descriptors: [original] }], 2);
  const taken = [0, 1, 0].flatMap((worker) => supply.take(worker)['a'] ?? []);
  assert.equal(new Set([original, ...taken]).size, 4);
  for (const descriptor of taken) assert.equal(socketOf(descriptor), socketOf(original));

  // The socket outlives the descriptor of a worker.
  const [first = -1, second = -1] = taken;
  closeSync(second);
  const worker = createServer((socket) => socket.end('hello')).listen({ fd: first });
  await once(worker, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  const client = connect(port, '127.0.0.1');
  assert.equal(String((await once(client, 'data'))[0]), 'hello');
  client.destroy();
  worker.close();
});

test('a UDP socket belongs to one worker', { skip }, async () => {
  const { createSocket } = await import('node:dgram');
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  assert.ok(symbol !== undefined);
  const { fd } = (socket as unknown as Record<symbol, { handle: { fd: number } }>)[symbol]?.handle ?? { fd: -1 };
  const supply = await DescriptorSupply.open([{ key: 'u', udp: true, descriptors: [fd] }], 3);
  const [one, two, three] = [0, 1, 2].map((worker) => supply.take(worker)['u']);
  assert.equal(one?.length, 1);
  assert.equal(socketOf(one?.[0] ?? -1), socketOf(fd));
  assert.deepEqual([two, three], [[], []]);
  socket.close();
});
