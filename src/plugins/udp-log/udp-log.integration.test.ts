import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { type LogRig, type SeenRecord, startLogRig } from '../../../test/support/log-rig.ts';
import { until } from '../../../test/support/until.ts';

describe('udp-log', () => {
  let rig: LogRig;
  let receiver: Socket;
  const seen: SeenRecord[] = [];
  before(async () => {
    receiver = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
    receiver.on('message', (datagram) => seen.push(JSON.parse(String(datagram)) as SeenRecord));
    receiver.bind(0, '127.0.0.1');
    await once(receiver, 'listening');
    rig = await startLogRig({ workers: 2 });
    await rig.plugin('udp-log', { host: 'localhost', port: receiver.address().port });
  });
  after(async () => {
    receiver.close();
    await rig[Symbol.asyncDispose]();
  });

  it('sends a record for each request and each stream', async () => {
    assert.equal(await rig.request('/first?apikey=hidden', 'Authorization: Basic hidden\r\nX-Odd: a\x85"}\t\r\n'), 200);
    await rig.talk('hello');
    await rig.sendDatagram('hi');
    await until(() => seen.length === 3);
    assert.doesNotMatch(JSON.stringify(seen), /hidden/);
    const names = seen.map((one) => one['route'].name);
    assert.deepEqual(names.toSorted(), ['datagrams', 'echo', 'web']);
    assert.equal(seen[names.indexOf('echo')]?.['session'].received, 5);
  });

  it('loses no record over loopback, of either worker', async () => {
    seen.length = 0;
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 10 }, (_, turn) => rig.request(`/${round}/${turn}`)));
    }
    await until(() => seen.length === 200);
    assert.equal(new Set(seen.map((one) => one['request'].uri)).size, 200);
  });

  it('counts a record that is too large for a datagram, and answers the request', async () => {
    const header = `X-Long: ${'"'.repeat(30_000)}\r\n`;
    await rig.plugin('udp-log', {
      host: '127.0.0.1',
      port: receiver.address().port,
      custom_fields: { again: "$(headers['x-long'])" },
    });
    assert.equal(await rig.request('/long', header), 200);
    await until(async () => (await rig.counts('udp-log'))['datagrams_too_large'] === 1);
  });

  it('affects no request while the receiver is unavailable, and sends later records afterwards', async () => {
    const { port } = receiver.address();
    receiver.close();
    for (let turn = 0; turn < 20; turn++) assert.equal(await rig.request('/away'), 200);
    await until(async () => ((await rig.counts('udp-log'))['send_failures'] ?? 0) > 0);
    seen.length = 0;
    receiver = createSocket('udp4');
    receiver.on('message', (datagram) => seen.push(JSON.parse(String(datagram)) as SeenRecord));
    receiver.bind(port, '127.0.0.1');
    await once(receiver, 'listening');
    await until(async () => {
      await rig.request('/back');
      return seen.length > 0;
    });
    assert.equal(seen[0]?.['request'].uri, '/back');
  });
});
