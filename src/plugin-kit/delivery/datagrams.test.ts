import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { type Datagrams, maxDatagramSize, openDatagrams } from './datagrams.ts';

interface Receiver extends Disposable {
  readonly port: number;
  readonly received: Buffer[];
}

async function receiver(address = '127.0.0.1', port = 0): Promise<Receiver> {
  const socket: Socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', recvBufferSize: 4 << 20 });
  const received: Buffer[] = [];
  socket.on('message', (datagram) => received.push(datagram));
  socket.bind(port, address);
  await once(socket, 'listening');
  return { port: (socket.address() as AddressInfo).port, received, [Symbol.dispose]: () => socket.close() };
}

interface Sender {
  readonly datagrams: Datagrams;
  readonly counts: Map<string, number>;
  readonly warnings: string[];
}

function sender(host: string, port: number): Sender {
  const counts = new Map<string, number>();
  const warnings: string[] = [];
  const quiet = (): void => {};
  const log = {
    debug: quiet,
    info: quiet,
    warn: (_: string, fields = {}) => warnings.push(JSON.stringify(fields)),
    error: (_: string, fields = {}) => warnings.push(JSON.stringify(fields)),
  };
  const count = (name: string, by = 1): void => void counts.set(name, (counts.get(name) ?? 0) + by);
  return { datagrams: openDatagrams({ host, port, log, count }), counts, warnings };
}

for (const host of ['127.0.0.1', 'localhost', '::1', '[::1]']) {
  test(`texts and bytes arrive at ${host} in order, one datagram each`, async () => {
    using to = await receiver(host.includes(':') ? '::1' : '127.0.0.1');
    const { datagrams, counts } = sender(host, to.port);
    const reused = Buffer.from('two');
    datagrams.send('one é');
    datagrams.send(reused);
    reused.fill(0);
    await until(() => to.received.length === 2);
    datagrams.send('three');
    datagrams.close();
    await until(() => to.received.length === 3);
    assert.deepEqual(to.received.map(String), ['one é', 'two', 'three']);
    assert.equal(counts.size, 0);
  });
}

test('a datagram that is too long is counted, the longest one is sent', async () => {
  using to = await receiver();
  const { datagrams, counts } = sender('127.0.0.1', to.port);
  datagrams.send('é'.repeat(maxDatagramSize / 2 + 1));
  datagrams.send('x'.repeat(maxDatagramSize));
  await until(() => to.received.length === 1);
  assert.equal(to.received[0]?.length, maxDatagramSize);
  assert.deepEqual([...counts], [['datagrams_too_large', 1]]);
  datagrams.close();
});

test('a name that is not found keeps a bounded number, drops all in the end, and says so once', async () => {
  const { datagrams, counts, warnings } = sender('nobody.invalid', 9);
  for (let index = 0; index < 5_000; index++) datagrams.send('x');
  assert.equal(counts.get('datagrams_dropped'), 4_000);
  await until(() => counts.get('datagrams_dropped') === 5_000);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /nobody\.invalid/);
  datagrams.close();
});

test('where nobody listens failures are counted and told once; who begins to listen gets what comes then', async () => {
  const gone = await receiver();
  gone[Symbol.dispose]();
  const { datagrams, counts, warnings } = sender('127.0.0.1', gone.port);
  await until(() => {
    datagrams.send('lost');
    return (counts.get('send_failures') ?? 0) > 3;
  });
  assert.equal(warnings.length, 1);
  using to = await receiver('127.0.0.1', gone.port);
  await until(() => {
    datagrams.send('found');
    return to.received.length > 0;
  });
  assert.equal(String(to.received[0]), 'found');
  datagrams.close();
});

test('an address that cannot be sent to at all throws nowhere', async () => {
  for (const [host, port] of [
    ['127.0.0.1', 0],
    ['255.255.255.255', 9],
    ['::ffff:1.2.3.4.5', 9],
  ] as const) {
    const { datagrams, counts } = sender(host, port);
    datagrams.send('x');
    await until(() => (counts.get('send_failures') ?? 0) + (counts.get('datagrams_dropped') ?? 0) > 0);
    datagrams.close();
  }
});

test('what was taken before the close is sent, what comes after it is counted', async () => {
  using to = await receiver();
  const { datagrams, counts } = sender('localhost', to.port);
  for (let index = 0; index < 100; index++) datagrams.send(String(index));
  datagrams.close();
  datagrams.send('late');
  datagrams.close();
  await datagrams.drain();
  await until(() => to.received.length === 100);
  assert.deepEqual([...counts], [['datagrams_dropped', 1]]);
});
