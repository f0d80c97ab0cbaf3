import assert from 'node:assert/strict';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { type StreamRig, startStreamRig } from '../support/stream-rig.ts';
import { until } from '../support/until.ts';

interface UdpPeer {
  readonly socket: Socket;
  readonly port: number;
  /** Datagrams so far, and their senders. */
  readonly received: string[];
  readonly from: RemoteInfo[];
}

async function startPeer(answer?: (text: string) => string): Promise<UdpPeer> {
  const socket = createSocket('udp4');
  const received: string[] = [];
  const from: RemoteInfo[] = [];
  socket.on('message', (datagram, sender) => {
    received.push(datagram.toString());
    from.push(sender);
    if (answer !== undefined) socket.send(answer(datagram.toString()), sender.port, sender.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { socket, port: socket.address().port, received, from };
}

describe('a stream of datagrams', () => {
  let rig: StreamRig;
  let backend: UdpPeer;
  let port = 0;
  const peers: UdpPeer[] = [];
  const client = async (): Promise<UdpPeer> => {
    const peer = await startPeer();
    peers.push(peer);
    return peer;
  };
  before(async () => {
    rig = await startStreamRig(['udp'], { workers: 2 });
    [port = 0] = rig.ports;
    backend = await startPeer((text) => `re: ${text}`);
    peers.push(backend);
    const service = { protocol: 'udp', port: backend.port, read_timeout: 300 };
    await rig.route('udp', service, { protocols: ['udp'], destinations: [{ port }] });
  });
  after(async () => {
    await rig.close();
    for (const { socket } of peers) socket.close();
  });

  it('is forwarded both ways, with one session per client, and logged after the idle timeout', async () => {
    const [one, other] = [await client(), await client()];
    for (let turn = 0; turn < 3; turn++) {
      one.socket.send(`one ${turn}`, port, '127.0.0.1');
      other.socket.send(`other ${turn}`, port, '127.0.0.1');
      await until(() => one.received.length > turn && other.received.length > turn);
    }
    assert.deepEqual(one.received, ['re: one 0', 're: one 1', 're: one 2']);
    assert.deepEqual(other.received, ['re: other 0', 're: other 1', 're: other 2']);
    assert.equal(new Set(backend.from.map((from) => from.port)).size, 2);
    const line = /^127\.0\.0\.1 \[[^\]]+\] UDP 200 27 15 0\.\d{3}$/m;
    await until(async () =>
      line.test(await readFile(rig.gateway.settings.proxyStreamAccessLog, 'utf8').catch(() => '')),
    );
  });

  it('keeps datagrams that arrive before the backend is known', async () => {
    const peer = await client();
    for (let at = 0; at < 10; at++) peer.socket.send(`early ${at}`, port, '127.0.0.1');
    await until(() => peer.received.length === 10);
  });

  it('is dropped without a route, and served again with one', async () => {
    const peer = await client();
    await rig.route('udp', {}, { protocols: ['udp'], destinations: [{ port: 1 }] });
    const count = backend.received.length;
    peer.socket.send('lost', port, '127.0.0.1');
    const log = rig.gateway.settings.proxyStreamAccessLog;
    await until(async () => /UDP 500 0 \d+ /.test(await readFile(log, 'utf8').catch(() => '')));
    assert.equal(backend.received.length, count);
    await rig.route('udp', { protocol: 'udp', port: backend.port }, { protocols: ['udp'], destinations: [{ port }] });
    peer.socket.send('found', port, '127.0.0.1');
    await until(() => peer.received.includes('re: found'));
  });

  it('starts again when the backend port is closed', async () => {
    const gone = await startPeer();
    gone.socket.close();
    await rig.route('udp', { protocol: 'udp', port: gone.port }, { protocols: ['udp'], destinations: [{ port }] });
    const peer = await client();
    peer.socket.send('a', port, '127.0.0.1');
    const log = rig.gateway.settings.proxyStreamAccessLog;
    await until(async () => /UDP 502 /.test(await readFile(log, 'utf8')));
    await rig.route('udp', { protocol: 'udp', port: backend.port }, { protocols: ['udp'], destinations: [{ port }] });
    peer.socket.send('b', port, '127.0.0.1');
    await until(() => peer.received.includes('re: b'));
  });

  it('is refused by ip-restriction when an instance for udp says so', async () => {
    const config = { deny: ['127.0.0.0/8'] };
    const plugin = { name: 'ip-restriction', config, protocols: ['udp', 'tls_passthrough'] };
    const { id } = await rig.write('POST', '/plugins', plugin);
    const peer = await client();
    const before = backend.received.length;
    peer.socket.send('refused', port, '127.0.0.1');
    const log = rig.gateway.settings.proxyStreamAccessLog;
    await until(async () => /UDP 403 0 \d+ /.test(await readFile(log, 'utf8')));
    assert.equal(backend.received.length, before);
    await rig.write('DELETE', `/plugins/${id}`);
  });

  it('does not delay a stopping node for long', async () => {
    const peer = await client();
    peer.socket.send('x', port, '127.0.0.1');
    await until(() => peer.received.length === 1);
    const begun = performance.now();
    await rig.gateway.gateway.stop(true);
    assert.ok(performance.now() - begun < 5_000);
  });
});
