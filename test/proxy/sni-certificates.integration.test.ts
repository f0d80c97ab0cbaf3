import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Rig, startRig } from '../support/rig.ts';
import { selfSigned } from '../support/self-signed.ts';
import { agreed, ask, secured, shown } from '../support/tls-client.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-sni-'));
const log = join(folder, 'error.log');
let rig: Rig;
let port: number;

before(async () => {
  rig = await startRig({
    env: {
      KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl',
      KONG_NGINX_WORKER_PROCESSES: '2',
      KONG_PROXY_ERROR_LOG: log,
    },
  });
  port = rig.gateway.proxyTlsPort;
});
after(async () => {
  await rig.close();
  rmSync(folder, { recursive: true });
});

async function certificate(name: string, snis: readonly string[]): Promise<string> {
  const row = await rig.write('POST', '/certificates', { ...selfSigned(name), snis });
  return String(row['id']);
}

/** The certificate that a client receives, from any worker. */
async function shownByAll(name: string): Promise<readonly string[]> {
  const all = await Promise.all(Array.from({ length: 8 }, () => shown(port, name)));
  return [...new Set(all)];
}

describe('the certificates of the Admin API', () => {
  it('are selected by exact name, suffix, prefix and *, then the certificate of the listener', async () => {
    await certificate('exact', ['www.names.test']);
    await certificate('suffix', ['*.names.test']);
    await certificate('prefix', ['www.names.*']);
    assert.deepEqual(await shownByAll('www.names.test'), ['exact ec']);
    assert.deepEqual(await shownByAll('a.b.names.test'), ['suffix ec']);
    assert.deepEqual(await shownByAll('www.names.example'), ['prefix ec']);
    assert.deepEqual(await shownByAll('other.example'), ['localhost ec']);
    const all = await certificate('all', ['*']);
    assert.deepEqual(await shownByAll('other.example'), ['all ec']);
    // Node sends no server name then.
    assert.equal(await shown(port, ''), 'localhost ec');
    await rig.gateway.admin('DELETE', `/certificates/${all}`);
    assert.deepEqual(await shownByAll('other.example'), ['localhost ec']);
  });

  it('change without dropping a connection', async () => {
    const id = await certificate('before', ['change.test']);
    const open = await Promise.all(Array.from({ length: 4 }, () => secured(port, { servername: 'change.test' })));
    for (const socket of open) assert.match(await ask(socket, '/first'), /^HTTP\/1\.1 200 /);
    for (let turn = 0; turn < 3; turn++) {
      await rig.write('PATCH', `/certificates/${id}`, selfSigned(`after-${turn}`));
      assert.deepEqual(await shownByAll('change.test'), [`after-${turn} ec`]);
    }
    for (const socket of open) {
      assert.match(await ask(socket, '/second'), /^HTTP\/1\.1 200 /);
      assert.match(socket.getPeerX509Certificate()?.subject ?? '', /CN=before/);
      socket.destroy();
    }
  });

  it('can be two for one name, and each client receives the one that it supports', async () => {
    const [ec, rsa] = [selfSigned('pair'), selfSigned('pair', 'rsa')];
    const pairs = [
      { cert: ec.cert, key: ec.key, cert_alt: rsa.cert, key_alt: rsa.key, snis: ['ec-first.test'] },
      { cert: rsa.cert, key: rsa.key, cert_alt: ec.cert, key_alt: ec.key, snis: ['rsa-first.test'] },
    ];
    for (const pair of pairs) await rig.write('POST', '/certificates', pair);
    for (const name of ['ec-first.test', 'rsa-first.test']) {
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const only = { minVersion: version, maxVersion: version };
        assert.equal(await shown(port, name, only), 'pair ec');
        assert.equal(await shown(port, name, { ...only, sigalgs: 'rsa_pss_rsae_sha256' }), 'pair rsa');
        assert.equal(await shown(port, name, { ...only, sigalgs: 'ecdsa_secp256r1_sha256' }), 'pair ec');
      }
      // Before TLS 1.3 the ciphers decide, not what the client can verify.
      const old = { maxVersion: 'TLSv1.2' } as const;
      assert.equal(await shown(port, name, { ...old, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }), 'pair rsa');
      assert.equal(await shown(port, name, { ...old, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }), 'pair ec');
    }
    assert.equal(await shown(port, 'unknown.test'), 'localhost ec');
  });

  it('still work when one of them is invalid, which the log names', async () => {
    await certificate('whole', ['whole.test']);
    const broken = { cert: '{vault://env/none}', key: '{vault://env/none}', snis: ['broken.test'] };
    const answer = await rig.gateway.admin('POST', '/certificates', broken);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    await assert.rejects(shown(port, 'broken.test'));
    assert.equal(await shown(port, 'whole.test'), 'whole ec');
    const lines = (): readonly string[] =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.includes('broken.test'));
    await until(() => lines().some((line) => line.includes('could not be shown its certificate')));
    assert.doesNotMatch(readFileSync(log, 'utf8'), /PRIVATE KEY/);
  });

  it('follow the TLS policy of the listener', async () => {
    await rig.write('POST', '/certificates', { ...selfSigned('rsa', 'rsa'), snis: ['policy.test'] });
    const name = ['-servername', 'policy.test'];
    assert.notEqual(await agreed(port, ...name, '-tls1_2', '-cipher', 'ECDHE-RSA-AES128-GCM-SHA256'), null);
    assert.notEqual(await agreed(port, ...name, '-tls1_2', '-cipher', 'DHE-RSA-AES128-GCM-SHA256'), null);
    assert.equal(await agreed(port, ...name, '-tls1_2', '-cipher', 'ECDHE-RSA-AES128-SHA256'), null);
    assert.equal(await agreed(port, ...name, '-tls1_1', '-cipher', 'ALL:@SECLEVEL=0'), null);
  });
});

describe('with ssl_cipher_suite = old', () => {
  it('the certificates of the Admin API are served to old clients', async () => {
    await using other = await startRig({
      env: { KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl', KONG_SSL_CIPHER_SUITE: 'old' },
    });
    await other.write('POST', '/certificates', { ...selfSigned('rsa', 'rsa'), snis: ['old.test'] });
    const weak = ['-servername', 'old.test', '-tls1_1', '-cipher', 'ALL:@SECLEVEL=0'];
    assert.notEqual(await agreed(other.gateway.proxyTlsPort, ...weak), null);
  });
});
