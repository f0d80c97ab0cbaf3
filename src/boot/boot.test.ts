import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testSettings } from '../../test/support/settings.ts';
import type { ListenAddress } from '../shared/settings/settings.ts';
import { claimPorts } from './listeners/claim-ports.ts';
import { listenerCertificates } from './listeners/listener-certificates.ts';
import { nodeIdOf } from './process/node-id.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-boot-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const [anyPort] = testSettings({ prefix: folder }).proxyListen as readonly [ListenAddress];

test('creates a node id once, and keeps it', () => {
  const first = nodeIdOf(folder, null);
  assert.match(first, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(nodeIdOf(folder, null), first);
  assert.equal(readFileSync(join(folder, 'node_id'), 'utf8'), `${first}\n`);
});

test('a configured node id takes precedence over the stored one', () => {
  const id = '11111111-2222-4333-8444-555555555555';
  assert.equal(nodeIdOf(folder, id), id);
  assert.notEqual(nodeIdOf(folder, null), id);
});

test('a stored node id that is not valid is replaced', () => {
  writeFileSync(join(folder, 'node_id'), 'torn');
  const made = nodeIdOf(folder, null);
  assert.notEqual(made, 'torn');
  assert.equal(nodeIdOf(folder, null), made);
});

test('replaces port 0 by a free one, and keeps the others', async () => {
  const {
    addresses: [address],
    release,
  } = await claimPorts([anyPort]);
  assert.ok(address !== undefined && address.port > 0);
  await assert.rejects(claimPorts([address]), /address already in use/, 'it is held');
  release();
  const again = await claimPorts([address]);
  assert.equal(again.addresses[0]?.port, address.port, 'nothing is left listening');
});

test('names the address that is in use, also when its owner shares it', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen({ host: '127.0.0.1', port: 0, reusePort: true }, resolve));
  const { port } = other.address() as { port: number };
  await assert.rejects(claimPorts([{ ...anyPort, port }]), {
    message: `cannot listen on 127.0.0.1:${port}: address already in use`,
  });
  other.close();
});

test('names an address that this machine does not have', async () => {
  await assert.rejects(claimPorts([{ ...anyPort, ip: '192.0.2.1', port: 8000 }]), {
    message: 'cannot listen on 192.0.2.1:8000: no such address on this machine',
  });
});

test('reads certificates from PEM, base64 and files, only when a listener needs them', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const file = join(folder, 'cert.pem');
  writeFileSync(file, pem);
  const base = testSettings({ prefix: folder });
  const secure = { ...base, proxyListen: [{ ...anyPort, ssl: true, listener: '127.0.0.1:0 ssl' }] };
  for (const value of [pem, Buffer.from(pem).toString('base64'), file]) {
    const settings = { ...secure, sslCert: [value], sslCertKey: [value] };
    assert.deepEqual(listenerCertificates(settings), { sslCert: [pem], sslCertKey: [pem] });
  }
  assert.deepEqual(listenerCertificates({ ...base, sslCert: ['/nowhere'], sslCertKey: ['/nowhere'] }), {
    sslCert: [],
    sslCertKey: [],
  });
  assert.throws(
    () => listenerCertificates({ ...secure, sslCert: ['/nowhere.pem'], sslCertKey: [pem] }),
    /^Error: ssl_cert: cannot read \/nowhere\.pem: /,
  );
});
