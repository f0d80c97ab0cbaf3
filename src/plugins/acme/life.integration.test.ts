import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { skipWithoutDnsServer } from '../../../test/support/dns-server.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { skipWithoutPebble } from '../../../test/support/pebble.ts';
import { until } from '../../../test/support/until.ts';
import { type AcmeRig, acmeSettings, configure, isIssued, openTls, shownFor, startAcmeRig } from './acme.fixture.ts';

const skip = skipWithoutPebble() || skipWithoutDnsServer();

async function make(rig: AcmeRig, host: string): Promise<void> {
  const answer = await rig.gateway.admin('POST', '/acme', { host });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
}

/** Restarts the node on the same ports. */
async function restarted({ gateway, identity }: AcmeRig): Promise<TestGateway> {
  const { proxyPort, proxyTlsPort, prefix } = gateway;
  await gateway.gateway.stop(true);
  const settings = acmeSettings(identity, { prefix });
  const proxyListen = settings.proxyListen?.map((one) => ({ ...one, port: one.ssl ? proxyTlsPort : proxyPort })) ?? [];
  return startTestGateway({ settings: { ...settings, proxyListen } });
}

describe('certificates by tls-alpn-01', { skip }, () => {
  const config = { challenge_type: 'tls-alpn-01' };

  it('are ordered when a client requests a host', async () => {
    // Nothing listens on the port of http-01, and every worker has to know the challenge.
    await using rig = await startAcmeRig({ config, settings: { workers: 2 }, pebble: { httpPort: 1 } });
    await shownFor(rig.gateway, 'a.acme.test');
    await until(() => isIssued(rig.gateway, 'a.acme.test'));
    // The host keeps its certificate while it is renewed.
    await make(rig, 'a.acme.test');
    assert.equal(rig.orders(), 2);
  });

  it('do not allow connections: without a pending challenge the handshake fails', async () => {
    await using rig = await startAcmeRig({ config });
    const port = rig.gateway.proxyTlsPort;
    await assert.rejects(openTls(port, 'a.acme.test', { ALPNProtocols: ['acme-tls/1'] }));
    await assert.rejects(openTls(port, 'a.acme.test', { ALPNProtocols: ['acme-tls/1'], maxVersion: 'TLSv1.2' }));
    const { socket } = await openTls(port, 'a.acme.test', { ALPNProtocols: ['http/1.1'] });
    assert.equal(socket.alpnProtocol, 'http/1.1');
    socket.destroy();
  });
});

describe('the life of certificates', { skip }, () => {
  it('they are renewed in time, and open connections continue', async () => {
    await using rig = await startAcmeRig({ config: {}, pebble: { validity: 3 } });
    await make(rig, 'a.acme.test');
    const { socket, certificate } = await openTls(rig.gateway.proxyTlsPort, 'a.acme.test');
    await until(async () => {
      const answer = await rig.gateway.admin('PATCH', '/acme');
      assert.deepEqual([answer.status, answer.body['message']], [202, 'Renewal process started successfully']);
      return (await shownFor(rig.gateway, 'a.acme.test')).serialNumber !== certificate.serialNumber;
    });
    const snis = (await rig.gateway.admin('GET', '/snis')).body['data'] as readonly unknown[];
    const certificates = (await rig.gateway.admin('GET', '/certificates')).body['data'] as readonly unknown[];
    assert.deepEqual([snis.length, certificates.length], [1, 1]);
    socket.write('GET / HTTP/1.1\r\nHost: a.acme.test\r\n\r\n');
    const [answer] = (await new Promise((resolve) => socket.once('data', (data) => resolve([data])))) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1.1 404 /);
    socket.destroy();
  });

  it('a restart keeps account and certificates', async () => {
    await using rig = await startAcmeRig({ config: {} });
    await make(rig, 'a.acme.test');
    const before = await shownFor(rig.gateway, 'a.acme.test');
    await using again = await restarted(rig);
    const after = await shownFor(again, 'a.acme.test');
    assert.equal(after.serialNumber, before.serialNumber);
    const made = await again.admin('POST', '/acme', { host: 'b.acme.test' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(rig.accounts(), 1);
  });

  it('a node that stops while it waits for the authority releases the host', async () => {
    await using rig = await startAcmeRig({ config: {} });
    rig.pebble.hang();
    const asked = [1, 2].map(() => rig.gateway.admin('POST', '/acme', { host: 'a.acme.test' }));
    assert.equal((await Promise.race(asked)).status, 409);
    const begin = performance.now();
    await using again = await restarted(rig);
    assert.ok(performance.now() - begin < 10_000);
    await Promise.allSettled(asked);
    rig.pebble.resume();
    const made = await again.admin('POST', '/acme', { host: 'a.acme.test' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });

  it('an account that the authority does not know any more is created again', async () => {
    await using rig = await startAcmeRig({ config: {} });
    await make(rig, 'a.acme.test');
    await rig.pebble.kill();
    await rig.pebble.restart();
    await make(rig, 'b.acme.test');
  });

  it('an external account is bound', async () => {
    const key = Buffer.from('a key of at least 32 bytes, so that it is long').toString('base64url');
    await using rig = await startAcmeRig({ pebble: { boundAccounts: { 'kid-1': key } } });
    await configure(rig, { eab_kid: 'kid-1', eab_hmac_key: key, cert_type: 'rsa', rsa_key_size: 2048 });
    await make(rig, 'a.acme.test');
    assert.equal((await shownFor(rig.gateway, 'a.acme.test')).bits, 2048);
  });

  it('the preferred chain is used', async () => {
    await using rig = await startAcmeRig({ pebble: { alternateRoots: 1 } });
    const names = rig.pebble.lines.flatMap((line) => /chain: (Pebble Root CA \w+) ->/.exec(line)?.[1] ?? []);
    assert.equal(names.length, 2);
    for (const name of names) {
      const path = (await rig.gateway.admin('GET', '/plugins?name=acme')).body['data'] as readonly { id: string }[];
      if (path[0] !== undefined) await rig.gateway.admin('DELETE', `/plugins/${path[0].id}`);
      await configure(rig, { preferred_chain: name });
      await make(rig, 'a.acme.test');
      const { body } = await rig.gateway.admin('GET', '/certificates');
      const [{ cert }] = body['data'] as [{ cert: string }];
      assert.equal(new X509Certificate(cert.slice(cert.lastIndexOf('-----BEGIN'))).issuer, `CN=${name}`);
    }
  });
});

describe('failures', { skip }, () => {
  type Failure = { readonly host: string; readonly reason: string; readonly retry_at: number };

  async function failure(rig: AcmeRig, host: string): Promise<Failure | undefined> {
    const { body } = await rig.gateway.admin('GET', '/acme/certificates');
    return (body['failures'] as readonly Failure[]).find((one) => one.host === host);
  }

  it('a host at another address waits before the next attempt', async () => {
    await using rig = await startAcmeRig({ config: { domains: ['nowhere.test'], fail_backoff_minutes: 10 } });
    await shownFor(rig.gateway, 'nowhere.test');
    await until(async () => (await failure(rig, 'nowhere.test')) !== undefined);
    const first = await failure(rig, 'nowhere.test');
    assert.ok(Math.abs((first?.retry_at ?? 0) - Date.now() / 1000 - 600) < 10, JSON.stringify(first));
    assert.equal(rig.orders(), 1);
    await shownFor(rig.gateway, 'nowhere.test');
    // An administrator can retry at once; every failure doubles the pause.
    const asked = await rig.gateway.admin('POST', '/acme', { host: 'nowhere.test' });
    assert.equal(asked.status, 500);
    assert.match(String(asked.body['message']), /^failed to create certificate for host nowhere\.test: \S/);
    const second = await failure(rig, 'nowhere.test');
    assert.ok(Math.abs((second?.retry_at ?? 0) - Date.now() / 1000 - 1200) < 10, JSON.stringify(second));
    assert.equal(rig.orders(), 2);
  });

  it('an authority that does not respond is reported, and delays no client', async () => {
    await using rig = await startAcmeRig({ config: {} });
    await rig.pebble.kill();
    await shownFor(rig.gateway, 'a.acme.test');
    await until(async () => (await failure(rig, 'a.acme.test')) !== undefined);
    assert.match((await failure(rig, 'a.acme.test'))?.reason ?? '', /ECONNREFUSED/);
  });

  it('an authority with an untrusted certificate receives nothing', async () => {
    await using rig = await startAcmeRig({ config: {}, settings: { trustedCertificates: null } });
    const answer = await rig.gateway.admin('POST', '/acme', { host: 'a.acme.test' });
    assert.equal(answer.status, 500);
    assert.match(String(answer.body['message']), /self-signed/);
    assert.equal(rig.accounts(), 0);
  });

  it('a test of a host reports the problem', async () => {
    await using rig = await startAcmeRig({ config: {} });
    const answer = await rig.gateway.admin('POST', '/acme', { host: 'a.acme.test', test_http_challenge_flow: true });
    assert.equal(answer.status, 400);
    assert.match(String(answer.body['message']), /^problem found running sanity check for a\.acme\.test: /);
  });
});
