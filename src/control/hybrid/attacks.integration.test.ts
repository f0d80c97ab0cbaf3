import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { type ConnectionOptions, connect } from 'node:tls';
import { WebSocket } from 'ws';
import { CertificateAuthority, type IssuedCertificate } from '../../../test/support/certificate-authority.ts';
import { until } from '../../../test/support/until.ts';
import { authority, clusterCertificate, HybridRig, sharedSettings } from './hybrid-rig.fixture.ts';

const strangers = new CertificateAuthority('strangers');
after(() => {
  authority[Symbol.dispose]();
  strangers[Symbol.dispose]();
});

const request = 'GET /v1/sluicegate HTTP/1.1\r\nHost: x\r\n\r\n';

/** What the server answers to an HTTP request on such a connection; '': nothing. */
async function answerTo(address: string, options: ConnectionOptions, text = request): Promise<string> {
  const port = Number(address.split(':')[1]);
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  let answer = '';
  socket.on('error', () => {});
  socket.on('data', (data) => {
    answer += String(data);
  });
  socket.write(text);
  await closed(socket);
  return answer;
}

/** Also after an error. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}

function keyPair({ cert, key }: IssuedCertificate): ConnectionOptions {
  return { cert, key };
}

test('a client gets no answer without the shared certificate, whatever else it has', async () => {
  await using rig = new HybridRig();
  const { address, server, log } = await rig.controlPlane();
  const sameAuthority = authority.issue('control.test');
  const other = strangers.issue('control.test');
  for (const tls of [{}, keyPair(sameAuthority), keyPair(other)]) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      assert.equal(await answerTo(address, { ...tls, maxVersion }), '');
    }
  }
  assert.match(await answerTo(address, keyPair(clusterCertificate)), /^HTTP\/1\.1 426 /);
  assert.match(await answerTo(address, keyPair(clusterCertificate), request.replace('/v1', '/v2')), /^HTTP\/1\.1 404 /);
  assert.equal(
    await answerTo(address, { ...keyPair(clusterCertificate), maxVersion: 'TLSv1.1', minVersion: 'TLSv1' }),
    '',
  );
  assert.deepEqual(server.dataPlanes(), []);
  assert.ok(log.has('was refused'));
});

test('plain text is not answered', async () => {
  await using rig = new HybridRig();
  const { address } = await rig.controlPlane();
  const socket = connectPlain(Number(address.split(':')[1]), '127.0.0.1');
  let answer = '';
  socket.on('error', () => {});
  socket.on('data', (data) => {
    answer += String(data);
  });
  socket.write(request);
  await closed(socket);
  assert.ok(!answer.includes('HTTP'), answer);
});

test('an expired certificate is refused, shared or signed', async () => {
  await using rig = new HybridRig();
  const expired = authority.issue('control.test', { days: -1 });
  const shared = await rig.controlPlane({ settings: { cert: expired.cert, key: expired.key } });
  assert.equal(await answerTo(shared.address, keyPair(expired)), '');
  const signed = await rig.controlPlane({ settings: { mtls: 'pki', ca: authority.cert } });
  assert.equal(await answerTo(signed.address, keyPair(expired)), '');
  assert.match(await answerTo(signed.address, keyPair(authority.issue('any.test'))), /^HTTP\/1\.1 426 /);
  assert.equal(await answerTo(signed.address, keyPair(strangers.issue('any.test'))), '');
  assert.equal(await answerTo(signed.address, {}), '');
});

test('a data plane sends nothing to a server that is not its control plane', async () => {
  await using rig = new HybridRig();
  const other = authority.issue('control.test');
  const impostor = await rig.controlPlane({ settings: { cert: other.cert, key: other.key } });
  const cautious = rig.dataPlane({ ...sharedSettings([impostor.address]), timeout: 1000 });
  await assert.rejects(cautious.store.ping(), /unable to verify|not trusted|self-signed|certificate/);
  const signed = await rig.controlPlane({ settings: { mtls: 'pki', ca: authority.cert } });
  const pki = { ...sharedSettings([signed.address]), mtls: 'pki' as const, ca: authority.cert, timeout: 1000 };
  const named = rig.dataPlane({ ...pki, serverName: 'other.test' });
  await assert.rejects(named.store.ping(), /does not match certificate/);
  await rig.dataPlane({ ...pki, serverName: 'control.test' }).store.ping();
  await rig.dataPlane(pki).store.ping();
  const distrusting = rig.dataPlane({ ...pki, ca: strangers.cert });
  await assert.rejects(distrusting.store.ping(), /certificate/);
});

test('certificates are rotated without a moment in which data planes cannot connect', async () => {
  await using rig = new HybridRig();
  const next = authority.issue('control.test');
  const { address, server } = await rig.controlPlane();
  const both = clusterCertificate.cert + next.cert;
  const turned = { cert: next.cert + clusterCertificate.cert, key: next.key, ca: null };
  const old = rig.dataPlane(sharedSettings([address]));
  await old.store.ping();
  // First both ends accept both, then the control plane presents the new one, then the data planes do.
  server.setTls({ cert: both, key: clusterCertificate.key, ca: null });
  await rig.dataPlane({ ...sharedSettings([address]), cert: both }).store.ping();
  server.setTls(turned);
  await rig.dataPlane({ ...sharedSettings([address]), cert: both }).store.ping();
  await rig.dataPlane({ ...sharedSettings([address]), ...turned }).store.ping();
  server.setTls({ cert: next.cert, key: next.key, ca: null });
  await rig.dataPlane({ ...sharedSettings([address]), ...turned }).store.ping();
  await old.store.ping();
  assert.throws(() => server.setTls({ cert: next.cert, key: clusterCertificate.key, ca: null }), /key/);
  assert.throws(() => server.setTls({ cert: 'nothing', key: next.key, ca: null }), /contains no certificate/);
  await rig.dataPlane({ ...sharedSettings([address]), ...turned }).store.ping();
});

test('what is not the protocol ends the connection, and no other', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane({ settings: { maxPayload: 100_000 } });
  const good = rig.dataPlane({ ...sharedSettings([control.address]), maxPayload: 100_000 });
  await good.store.ping();
  const hello = { t: 'hello', protocol: { min: 1, max: 1 }, features: [], labels: {}, position: null };
  const first = [
    'not JSON',
    '[]',
    'null',
    '{"t":5}',
    '{"t":"call","id":0,"method":"ping","args":{}}',
    JSON.stringify({ ...hello, node: { id: 'x', hostname: 'h', version: 'v' } }),
    JSON.stringify({ ...hello, node: null }),
    JSON.stringify({ ...hello, protocol: { min: 2, max: 1 } }),
    `{"t":"hello","labels":${'['.repeat(40_000)}`,
    'x'.repeat(200_000),
    randomBytes(1000),
  ];
  for (const message of first) {
    const { socket } = await rig.connect(control.address);
    socket.send(message);
    const [code] = (await once(socket, 'close')) as [number];
    assert.ok(code === 4400 || code === 1009, `${code} for ${String(message).slice(0, 60)}`);
  }
  const known = await rig.introduce(control.address);
  known.socket.send(JSON.stringify({ ...hello, node: { id: randomUUID(), hostname: 'h', version: 'v' } }));
  assert.equal((await once(known.socket, 'close'))[0], 4400);
  await good.store.ping();
  await until(() => control.server.dataPlanes().length === 1);
});

test('a connection that says nothing is closed', async () => {
  await using rig = new HybridRig();
  const { address } = await rig.controlPlane({ settings: { timeout: 200 } });
  const { socket } = await rig.connect(address);
  assert.equal((await once(socket, 'close'))[0], 4408);
});

test('a data plane that falls silent is dropped', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  const raw = await rig.introduce(control.address);
  assert.equal(control.server.dataPlanes().length, 1);
  raw.socket.pause();
  await until(() => control.server.dataPlanes().length === 0);
  assert.ok(control.log.lines.some(({ fields }) => fields['reason'] === 'nothing was heard from it'));
});

test('calls with wrong arguments are refused, and nothing else happens', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  const raw = await rig.introduce(control.address);
  const calls: readonly (readonly [string, unknown])[] = [
    ['nothing', {}],
    ['constructor', {}],
    ['__proto__', {}],
    ['find', null],
    ['find', { entity: 'consumers', field: 'tags', value: 'x', followed: 0 }],
    ['find', { entity: 'consumers', field: 'username"; drop table consumers', value: 'x', followed: 0 }],
    ['find', { entity: 'sqlite_master', field: 'id', value: 'x', followed: 0 }],
    ['list', { entity: 'consumers', query: { limit: 1e9 }, followed: 0 }],
    ['list', { entity: 'consumers', query: { limit: 5, skip: -1 }, followed: 0 }],
    ['leaseCounters', { requests: [{ windows: 'x' }] }],
    ['putUsage', { rows: [{}], names: [] }],
    ['commit', { reads: [], writes: [{ kind: 'drop', entity: 'consumers' }] }],
    ['commit', { reads: [], writes: Array.from({ length: 20_000 }, () => null) }],
  ];
  for (const [id, [method, args]] of calls.entries()) {
    raw.socket.send(JSON.stringify({ t: 'call', id, method, args }));
    const answer = (await raw.next('result', 'failure')) as { readonly t: string; readonly error?: { kind: string } };
    assert.deepEqual([method, answer.t, answer.error?.kind], [method, 'failure', 'usage']);
  }
  assert.equal(raw.socket.readyState, WebSocket.OPEN);
});

test('a data plane that floods with calls takes no turn from another', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  const good = rig.dataPlane(sharedSettings([control.address]));
  await good.store.ping();
  const flood = await rig.introduce(control.address);
  const call = JSON.stringify({
    t: 'call',
    id: 1,
    method: 'list',
    args: { entity: 'consumers', query: { limit: 10 }, followed: 0 },
  });
  for (let sent = 0; sent < 20_000; sent++) flood.socket.send(call);
  let slowest = 0;
  for (let i = 0; i < 50; i++) {
    const began = performance.now();
    assert.equal(await good.store.count('consumers'), 0);
    slowest = Math.max(slowest, performance.now() - began);
  }
  assert.ok(slowest < 1000, `${slowest} ms`);
  flood.socket.terminate();
});

test('a data plane that calls and does not read is dropped, with bounded memory', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane({ server: { times: { pingInterval: 60_000, silence: 60_000 } } });
  const cert = 'x'.repeat(200_000);
  const id = randomUUID();
  await control.store.write((writer) =>
    writer.insert('certificates', { id, created_at: 0, cert, key: 'k', tags: null }),
  );
  const raw = await rig.introduce(control.address);
  await raw.next('config');
  raw.socket.pause();
  const call = JSON.stringify({
    t: 'call',
    id: 1,
    method: 'find',
    args: { entity: 'certificates', field: 'id', value: id, followed: 0 },
  });
  for (let sent = 0; sent < 500; sent++) raw.socket.send(call);
  await until(() => control.server.dataPlanes().length === 0);
  assert.ok(control.log.lines.some(({ fields }) => fields['reason'] === 'it does not read what is sent to it'));
});

test('connections above the limit are asked to come later', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane({ server: { maxDataPlanes: 1 } });
  await rig.introduce(control.address);
  const late = rig.dataPlane({ ...sharedSettings([control.address]), timeout: 1000 });
  await assert.rejects(late.store.ping(), /the control plane is busy/);
});
