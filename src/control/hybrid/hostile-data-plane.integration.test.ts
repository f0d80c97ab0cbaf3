import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import type { Store } from '../store/store.ts';
import { authority, HybridRig, sharedSettings } from './hybrid-rig.fixture.ts';

/** What a data plane can do to its control plane and to other data planes when somebody else has its certificate. */

after(() => authority[Symbol.dispose]());

const attacker = '127.0.0.2';
const text = (length: number): string => 'x'.repeat(length);

function call(id: number, method: string, args: object): string {
  return JSON.stringify({ t: 'call', id, method, args });
}

test('a handshake that does not end is closed, and does not delay others', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane({ settings: { timeout: 500 } });
  const port = Number(control.address.split(':')[1]);
  // The first bytes of a ClientHello of 512 bytes.
  const stalled = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  const ends = stalled.map((socket: Socket) => once(socket, 'close'));
  for (const socket of stalled) socket.write(Buffer.from('16030102000100', 'hex'));
  await rig.dataPlane(sharedSettings([control.address])).store.ping();
  await Promise.all(ends);
});

test('a message of an unknown type is no introduction', async () => {
  await using rig = new HybridRig();
  const { address } = await rig.controlPlane({ settings: { timeout: 200 } });
  const { socket } = await rig.connect(address);
  socket.send('{"t":"news"}');
  assert.equal((await once(socket, 'close'))[0], 4408);
});

test('nobody introduces itself as the control plane', async () => {
  await using rig = new HybridRig();
  const nodeId = randomUUID();
  const control = await rig.controlPlane({ server: { nodeId } });
  const { socket } = await rig.connect(control.address);
  const node = { id: nodeId, hostname: 'h', version: 'v' };
  const hello = { t: 'hello', protocol: { min: 1, max: 1 }, features: [], labels: {}, position: null, node };
  socket.send(JSON.stringify(hello));
  assert.equal((await once(socket, 'close'))[0], 4400);
});

test('one address cannot take all places', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane({ server: { maxDataPlanes: 4 } });
  for (let taken = 0; taken < 4; taken++) await rig.introduce(control.address, {}, attacker);
  const good = rig.dataPlane(sharedSettings([control.address]));
  await good.store.ping();
  await assert.rejects(rig.introduce(control.address, {}, attacker), /503/);
  await good.store.ping();
  assert.ok(control.server.dataPlanes().some(({ id }) => id === good.id));
});

test('calls that wait are not read without end', async () => {
  await using rig = new HybridRig();
  const store = await rig.openStore();
  const release = Promise.withResolvers<void>();
  const slow: Store = { ...store, count: (entity) => release.promise.then(() => store.count(entity)) };
  const control = await rig.controlPlane({
    store: slow,
    settings: { timeout: 30_000 },
    // Nothing is heard from a connection that is not read.
    server: { times: { silence: 60_000 } },
  });
  const raw = await rig.introduce(control.address);
  const junk = text(1024 * 1024);
  let sent = 0;
  const sendNext = (): void => {
    if (sent < 100) raw.socket.send(call(sent++, 'count', { entity: 'consumers', junk }), sendNext);
  };
  sendNext();
  const good = rig.dataPlane(sharedSettings([control.address]));
  for (let same = 0, before = 0; same < 50; before = sent) {
    await good.store.ping();
    same = sent === before ? same + 1 : 0;
  }
  // The sockets hold some, too.
  assert.ok(sent < 50, `${sent} calls were read`);
  release.resolve();
  await until(() => raw.messages.filter(({ t }) => t === 'result').length === 100, 20_000);
});

test('messages that never end cost no memory without end, and no other data plane', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane({ maxHeldBytes: 1_000_000 });
  const good = rig.dataPlane(sharedSettings([control.address]));
  await good.store.ping();
  const hostile = await Promise.all([1, 2, 3, 4].map(() => rig.introduce(control.address, {}, attacker)));
  for (const { socket } of hostile) socket.send(text(400_000), { fin: false });
  await until(() => control.server.dataPlanes().length < 5);
  await good.store.ping();
  assert.ok(control.server.dataPlanes().some(({ id }) => id === good.id));
  assert.ok(control.log.lines.some(({ fields }) => fields['reason'] === 'its messages need too much memory'));
});

test('a data plane that does not read its config is dropped, though it sends', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  const cert = text(200_000);
  await control.store.write(async (writer) => {
    for (let i = 0; i < 100; i++) {
      await writer.insert('certificates', { id: randomUUID(), created_at: 0, cert, key: 'k', tags: null });
    }
  });
  await until(async () => control.publisher.position.version === (await control.store.version()));
  const raw = await rig.introduce(control.address);
  raw.socket.pause();
  const alive = setInterval(() => raw.socket.ping(), 50);
  await until(() => control.server.dataPlanes().length === 0, 10_000).finally(() => clearInterval(alive));
  assert.ok(control.log.lines.some(({ fields }) => fields['reason'] === 'it does not read what is sent to it'));
});

test('a transaction with too much work is rolled back, since all other writes wait for it', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane({ settings: { timeout: 1000 } });
  await control.store.write(async (writer) => {
    for (let i = 0; i < 5000; i++) {
      const row = { id: randomUUID(), created_at: 0, username: `user ${i}`, custom_id: null, tags: null };
      await writer.insert('consumers', row);
    }
  });
  const raw = await rig.introduce(control.address);
  const read = { kind: 'list', entity: 'consumers', query: { limit: 5000 } };
  raw.socket.send(call(1, 'read', { read }));
  const { value } = (await raw.next('result')) as { readonly value: { readonly tag: string } };
  const reads = Array.from({ length: 1000 }, () => ({ read, tag: value.tag }));
  raw.socket.send(call(2, 'commit', { reads, writes: [] }));
  const failure = (await raw.next('failure')) as { readonly error: { readonly message: string } };
  assert.match(failure.error.message, /takes too long/);
});
