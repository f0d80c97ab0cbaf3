import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { skipWithoutDnsServer } from '../../../test/support/dns-server.ts';
import { skipWithoutPebble } from '../../../test/support/pebble.ts';
import { exchangeOne } from '../../../test/support/raw-client.ts';
import { until } from '../../../test/support/until.ts';
import { type AcmeRig, isIssued, openTls, own, shownFor, startAcmeRig } from './acme.fixture.ts';

const skip = skipWithoutPebble() || skipWithoutDnsServer();

type Listed = { readonly data: readonly Row[]; readonly failures: readonly Row[] };
type Row = Readonly<Record<string, unknown>>;

async function listed(rig: AcmeRig, query = ''): Promise<Listed> {
  return (await rig.gateway.admin('GET', `/acme/certificates${query}`)).body as unknown as Listed;
}

describe('certificates by http-01', { skip }, () => {
  let rig: AcmeRig;
  before(async () => {
    rig = await startAcmeRig({ config: {}, pebble: { refusedNonces: 30 } });
  });
  after(() => rig[Symbol.asyncDispose]());

  it('are ordered in the background when a client requests a host, even if no route matches', async () => {
    const first = await shownFor(rig.gateway, 'a.acme.test');
    assert.equal(first.subject.CN, 'gateway.test');
    await until(() => isIssued(rig.gateway, 'a.acme.test'));
    const ca = await rig.pebble.root();
    const { socket } = await openTls(rig.gateway.proxyTlsPort, 'a.acme.test', { ca, rejectUnauthorized: true });
    assert.equal(socket.authorized, true);
    socket.destroy();
    assert.equal(rig.orders(), 1);
    assert.equal((await rig.gateway.admin('GET', '/snis/a.acme.test')).status, 200);
  });

  it('are ordered once for many clients', async () => {
    const before = rig.orders();
    await Promise.all(Array.from({ length: 40 }, () => shownFor(rig.gateway, 'many.acme.test')));
    await until(() => isIssued(rig.gateway, 'many.acme.test'));
    assert.equal(rig.orders(), before + 1);
  });

  it('are ordered before plugins refuse and routes redirect the challenge', async () => {
    await rig.gateway.admin('POST', '/plugins', { name: 'key-auth' });
    await rig.gateway.admin('PUT', '/routes/secure', { paths: ['/'], protocols: ['https'] });
    const answer = await rig.gateway.admin('POST', '/acme', { host: 'guarded.acme.test' });
    assert.deepEqual(
      [answer.status, answer.body['message']],
      [201, 'certificate for host guarded.acme.test is created'],
    );
    assert.equal(await isIssued(rig.gateway, 'guarded.acme.test'), true);
  });

  it('are shown by the Admin API, without any key', async () => {
    await rig.gateway.admin('POST', '/acme', 'host=listed.acme.test');
    const [row] = (await listed(rig)).data.filter(({ host }) => host === 'listed.acme.test');
    assert.equal(row?.['valid'], true);
    assert.match(String(row?.['issuer_cn']), /^Pebble Intermediate/);
    const one = await rig.gateway.admin('GET', '/acme/certificates/listed.acme.test');
    assert.deepEqual(one.body, { data: row });
    assert.doesNotMatch(JSON.stringify([await listed(rig), one.body]), /PRIVATE|"key"/);
    assert.deepEqual((await listed(rig, '?invalid_only=true')).data, []);
    const none = await rig.gateway.admin('GET', '/acme/certificates/other.acme.test');
    assert.deepEqual(
      [none.status, none.body['message']],
      [404, 'Certificate for host other.acme.test not found in storage'],
    );
    for (const path of ['/acme_storage', '/acme_challenges']) {
      assert.equal((await rig.gateway.admin('GET', path)).status, 404);
    }
  });

  it('are not ordered for hosts that are not allowed, nor for invalid names', async () => {
    const before = rig.orders();
    for (const name of ['acme.test', 'a.other.test', 'x_y.acme.test']) await shownFor(rig.gateway, name);
    for (const host of ['acme.test', 'a.other.test', '127.0.0.1', 'localhost', '', '*.acme.test']) {
      assert.equal((await rig.gateway.admin('POST', '/acme', { host })).status, 400, host);
    }
    await rig.gateway.admin('POST', '/acme', { host: 'last.acme.test' });
    assert.equal(rig.orders(), before + 1);
  });

  it('belong to the whole gateway: the plugin has no scope', async () => {
    const config = { account_email: 'ada@acme.test', api_uri: rig.pebble.directory };
    const answer = await rig.gateway.admin('POST', '/routes/secure/plugins', { name: 'acme', config });
    assert.equal(answer.status, 400);
    assert.match(String(answer.body['message']), /route: value must be null/);
  });

  it('never replace a certificate that an administrator created', async () => {
    const mine = await rig.gateway.admin('POST', '/certificates', { ...own, snis: ['mine.acme.test'] });
    assert.equal(mine.status, 201);
    const before = rig.orders();
    const refused = await rig.gateway.admin('POST', '/acme', { host: 'mine.acme.test' });
    assert.equal(refused.status, 400);
    assert.equal((await shownFor(rig.gateway, 'mine.acme.test')).issuer.CN, 'gateway.test');

    // A managed certificate that was replaced counts as one of the administrator.
    await rig.gateway.admin('POST', '/acme', { host: 'changed.acme.test' });
    const { body } = await rig.gateway.admin('GET', '/acme/certificates/changed.acme.test');
    const { id } = (body['data'] as { certificate: { id: string } }).certificate;
    assert.equal((await rig.gateway.admin('PATCH', `/certificates/${id}`, own)).status, 200);
    assert.equal((await rig.gateway.admin('POST', '/acme', { host: 'changed.acme.test' })).status, 400);
    assert.equal((await shownFor(rig.gateway, 'changed.acme.test')).issuer.CN, 'gateway.test');
    assert.equal(rig.orders(), before + 1);
  });

  it('are ordered again when an administrator deletes them', async () => {
    await rig.gateway.admin('POST', '/acme', { host: 'deleted.acme.test' });
    const { body } = await rig.gateway.admin('GET', '/snis/deleted.acme.test');
    await rig.gateway.admin('DELETE', `/certificates/${(body['certificate'] as { id: string }).id}`);
    await shownFor(rig.gateway, 'deleted.acme.test');
    await until(() => isIssued(rig.gateway, 'deleted.acme.test'));
  });

  it('leave the challenges of other hosts to the backend, and refuse unknown ones of allowed hosts', async () => {
    const at = (host: string) =>
      exchangeOne(
        rig.gateway.proxyPort,
        `GET /.well-known/acme-challenge/unknown HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
    const ours = await at('b.acme.test');
    assert.deepEqual([ours.status, ours.body.toString()], [404, '{"message":"Not found"}']);
    assert.equal((await at('b.other.test')).status, 426);
  });

  it('need one account only, and no log contains a secret', async () => {
    assert.equal(rig.accounts(), 1);
    const log = await readFile(join(rig.gateway.prefix, 'error.log'), 'utf8');
    assert.doesNotMatch(log, /PRIVATE KEY|"d":/);
  });
});
