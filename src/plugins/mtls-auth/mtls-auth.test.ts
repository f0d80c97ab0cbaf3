import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { until } from '../../../test/support/until.ts';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type PluginTest, type TestPluginOptions, testPlugin } from '../../plugin-testing/index.ts';
import mtlsAuth from './index.ts';
import { authorityExtensions, type Issued, TestPki } from './pki.fixture.ts';

const pki = new TestPki();
const root = pki.root('/CN=Root');
const other = pki.root('/CN=Other Root');
const intermediate = root.authority('/O=Acme/CN=Intermediate');
const ids = {
  root: '11111111-1111-4111-8111-111111111111',
  other: '22222222-2222-4222-8222-222222222222',
  intermediate: '33333333-3333-4333-8333-333333333333',
  missing: '44444444-4444-4444-8444-444444444444',
};
const consumers = ['ada', 'grace', 'guest', 'a.test'].map((username, at) => ({
  id: `5555555${at}-5555-4555-8555-555555555555`,
  created_at: 1,
  username,
  custom_id: `custom-${username}`,
}));
const ada = consumers[0]!;
const grace = consumers[1]!;
after(() => pki.close());

function plugin(config: Readonly<Record<string, unknown>> = {}, options: TestPluginOptions = {}): PluginTest {
  return testPlugin(mtlsAuth, {
    config: { ca_certificates: [ids.root], ...config },
    ...options,
    entities: {
      consumers,
      ca_certificates: [
        { id: ids.root, created_at: 1, cert: root.cert },
        { id: ids.other, created_at: 1, cert: other.cert },
        { id: ids.intermediate, created_at: 1, cert: intermediate.cert },
      ],
      ...options.entities,
    },
  });
}

function showing(...chain: readonly { readonly der: Uint8Array }[]) {
  return { scheme: 'https' as const, clientCertificates: chain.map(({ der }) => der) };
}

async function statusOf(one: PluginTest, ...chain: readonly { readonly der: Uint8Array }[]): Promise<number> {
  return (await one.request(showing(...chain))).response.status;
}

describe('the configuration of mtls-auth', () => {
  it('has Kong defaults', async () => {
    const checked = await plugin().check({ ca_certificates: [ids.root] });
    assert.ok(checked.ok);
    assert.deepEqual(checked.config, {
      anonymous: null,
      consumer_by: ['username', 'custom_id'],
      ca_certificates: [ids.root],
      cache_ttl: 60,
      skip_consumer_lookup: false,
      allow_partial_chain: false,
      authenticated_group_by: 'CN',
      revocation_check_mode: 'IGNORE_CA_ERROR',
      http_timeout: 30_000,
      cert_cache_ttl: 60_000,
      default_consumer: null,
      crls: null,
    });
  });

  const faults: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
    ['no authority', {}, /ca_certificates: required field missing/],
    ['an empty list of authorities', { ca_certificates: [] }, /ca_certificates: length must be at least 1/],
    ['an authority that is no id', { ca_certificates: ['root'] }, /expected a valid UUID/],
    ['another field of consumers', { ca_certificates: [ids.root], consumer_by: ['id'] }, /expected one of/],
    ['another mode', { ca_certificates: [ids.root], revocation_check_mode: 'SOMETIMES' }, /expected one of/],
    ['a relative path', { ca_certificates: [ids.root], crls: ['crl.pem'] }, /must be PEM, an http\(s\) URL/],
    ['a list that is none', { ca_certificates: [ids.root], crls: [root.cert] }, /invalid revocation list/],
  ];
  for (const [what, config, message] of faults) {
    it(`is refused with ${what}`, async () => {
      const checked = await plugin().check(config);
      assert.ok(!checked.ok);
      assert.match(checked.message, message);
    });
  }
});

describe('mtls-auth without a certificate', () => {
  for (const scheme of ['http', 'https'] as const) {
    it(`refuses over ${scheme}`, async () => {
      const { response } = await plugin().request({ scheme });
      assert.equal(response.status, 401);
      assert.match(response.body, /No required TLS certificate was sent/);
      assert.equal(response.header('www-authenticate'), null);
    });
  }

  it('goes on as the anonymous consumer, with a bad certificate too, and strips what the client says of itself', async () => {
    const one = plugin({ anonymous: 'guest' });
    const headers = { 'X-Client-Cert-Dn': 'CN=ada', X_Client_Cert_San: 'ada', 'X-Consumer-Username': 'ada' };
    for (const more of [{}, showing(other.issue('/CN=ada'))]) {
      const { consumer, upstream } = await one.request({ ...more, headers });
      assert.equal(consumer?.username, 'guest');
      assert.equal(upstream?.header('x-client-cert-dn'), null);
      assert.equal(upstream?.header('x_client_cert_san'), null);
      assert.equal(upstream?.header('x-consumer-username'), 'guest');
      assert.equal(upstream?.header('x-anonymous-consumer'), 'true');
    }
  });
});

describe('mtls-auth and the consumer of a certificate', () => {
  const named = root.issue('/CN=ada');
  const alternative = root.issue('/CN=ada', { extensions: ['subjectAltName=DNS:nobody.test,email:grace'] });

  it('is the one with the common name as username', async () => {
    const { consumer, upstream } = await plugin().request(showing(named));
    assert.equal(consumer?.username, 'ada');
    assert.equal(upstream?.header('x-consumer-id'), ada.id);
    assert.equal(upstream?.header('x-credential-identifier'), 'ada');
  });

  it('is found by custom_id, and by alternative names before the common name', async () => {
    const custom = root.issue('/CN=custom-grace');
    assert.equal((await plugin().request(showing(custom))).consumer?.username, 'grace');
    assert.equal((await plugin().request(showing(alternative))).consumer?.username, 'grace');
    assert.equal(await statusOf(plugin({ consumer_by: ['username'] }), custom), 401);
    assert.equal(await statusOf(plugin({ consumer_by: [] }), named), 401);
  });

  it('is never found by its id, or by one of two common names', async () => {
    assert.equal(await statusOf(plugin(), root.issue(`/CN=${ada.id}`)), 401);
    assert.equal(await statusOf(plugin(), root.issue('/CN=nobody/CN=ada')), 401);
    assert.equal(await statusOf(plugin(), root.issue('/CN=ada/CN=nobody')), 401);
  });

  it('is that of a credential, of its authority before any', async () => {
    const credentials = [
      { id: 'c1', created_at: 1, subject_name: 'ada', ca_certificate: null, consumer: { id: ada.id } },
      { id: 'c2', created_at: 2, subject_name: 'ada', ca_certificate: { id: ids.root }, consumer: { id: grace.id } },
      { id: 'c3', created_at: 3, subject_name: 'x', ca_certificate: { id: ids.other }, consumer: { id: grace.id } },
    ];
    const config = { ca_certificates: [ids.root, ids.other] };
    for (const slowEntities of [false, true]) {
      const one = plugin(config, { slowEntities, entities: { mtls_auth_credentials: credentials } });
      const byRoot = await one.request(showing(named));
      assert.equal(byRoot.consumer?.username, 'grace');
      assert.equal(byRoot.upstream?.header('x-credential-identifier'), 'c2');
      assert.equal((await one.request(showing(other.issue('/CN=ada')))).consumer?.username, 'ada');
      assert.equal((await one.request(showing(other.issue('/CN=x')))).consumer?.username, 'grace');
      assert.equal(await statusOf(one, root.issue('/CN=x')), 401);
    }
  });

  it('is another one as soon as the credential changes', async () => {
    const one = plugin();
    const request = showing(root.issue('/CN=newcomer'));
    assert.equal((await one.request(request)).response.status, 401);
    const { id } = await one.entities.insert('mtls_auth_credentials', {
      subject_name: 'newcomer',
      consumer: { id: ada.id },
    });
    assert.equal((await one.request(request)).consumer?.username, 'ada');
    await one.entities.delete('mtls_auth_credentials', id);
    assert.equal((await one.request(request)).response.status, 401);
  });

  it('is the default consumer when the certificate belongs to nobody', async () => {
    const nobody = root.issue('/CN=nobody');
    const { response } = await plugin().request(showing(nobody));
    assert.equal(response.status, 401);
    assert.match(response.body, /TLS certificate failed verification/);
    const { consumer, upstream } = await plugin({ default_consumer: 'guest' }).request(showing(nobody));
    assert.equal(consumer?.username, 'guest');
    assert.equal(upstream?.header('x-anonymous-consumer'), null);
    const gone = plugin({ default_consumer: 'gone' });
    assert.equal(await statusOf(gone, nobody), 401);
    assert.equal(gone.logLines.at(-1)?.message, 'the default consumer does not exist');
  });

  const seen: (readonly string[] | null | undefined)[] = [];
  const groups = definePlugin({
    name: 'groups',
    version: '1.0.0',
    priority: 950,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      access({ client }) {
        seen.push(client.details?.groups);
        return undefined;
      },
    }),
  });

  it('is not looked for with skip_consumer_lookup; backend and acl get the names', async () => {
    const certificate = root.issue('/C=DE/O=Acme, Inc/CN=Zoë', {
      extensions: ['subjectAltName=@names', '[names]', 'DNS.1=zoe.test', 'IP.1=2001:db8::1', 'URI.1=x:a,b'],
    });
    for (const [by, group] of [
      ['CN', 'Zoë'],
      ['DN', 'CN=Zo\\c3\\ab,O=Acme\\, Inc,C=DE'],
    ]) {
      const one = plugin(
        { skip_consumer_lookup: true, authenticated_group_by: by },
        { otherPlugins: [{ plugin: groups }] },
      );
      const { consumer, upstream } = await one.request({
        ...showing(certificate),
        headers: { 'X-Client-Cert-Dn': 'CN=root', 'X-Client-Cert-San': 'root' },
      });
      assert.equal(consumer, null);
      assert.equal(upstream?.header('x-client-cert-dn'), 'CN=Zo\\c3\\ab,O=Acme\\, Inc,C=DE');
      assert.equal(upstream?.header('x-client-cert-san'), 'zoe.test,2001:db8::1,x:a%2Cb');
      assert.deepEqual(seen.pop(), [group]);
    }
  });

  it('does not hold names with control characters or NUL', async () => {
    const tricky = root.issue('/CN=ada\\x00.evil.test');
    const { upstream } = await plugin({ skip_consumer_lookup: true }).request(showing(tricky));
    assert.doesNotMatch(upstream?.header('x-client-cert-dn') ?? '', /[^\x20-\x7e]/);
  });
});

describe('mtls-auth and the path of a certificate', () => {
  const leaf = intermediate.issue('/CN=ada');

  it('may lead over authorities that the client sends, in any order', async () => {
    assert.equal(await statusOf(plugin(), leaf, intermediate), 200);
    assert.equal(await statusOf(plugin(), leaf, other, intermediate, root), 200);
    assert.equal(await statusOf(plugin(), leaf), 401);
    assert.equal(await statusOf(plugin(), leaf, root), 401);
  });

  it('may lead over authorities of the configuration', async () => {
    assert.equal(await statusOf(plugin({ ca_certificates: [ids.root, ids.intermediate] }), leaf), 200);
  });

  it('ends at a self-signed authority, unless a part of it is enough', async () => {
    const config = { ca_certificates: [ids.intermediate] };
    assert.equal(await statusOf(plugin(config), leaf), 401);
    assert.equal(await statusOf(plugin(config), leaf, root), 401);
    assert.equal(await statusOf(plugin({ ...config, allow_partial_chain: true }), leaf), 200);
  });

  it('ends at an authority of this very instance', async () => {
    assert.equal(await statusOf(plugin({ ca_certificates: [ids.other] }), leaf, intermediate), 401);
    const missing = plugin({ ca_certificates: [ids.missing] });
    assert.equal(await statusOf(missing, leaf, intermediate), 401);
    assert.equal(missing.logLines[0]?.message, 'a CA certificate is missing or not valid');
  });

  it('is checked again when an authority changes or is deleted', async () => {
    const one = plugin();
    const request = showing(leaf, intermediate);
    assert.equal((await one.request(request)).response.status, 200);
    await one.entities.update('ca_certificates', ids.root, { cert: other.cert });
    assert.equal((await one.request(request)).response.status, 401);
    await one.entities.update('ca_certificates', ids.root, { cert: root.cert });
    assert.equal((await one.request(request)).response.status, 200);
    await one.entities.delete('ca_certificates', ids.root);
    assert.equal((await one.request(request)).response.status, 401);
  });

  const twin = pki.root('/CN=Root');
  const weakKey = generateKeyPairSync('rsa', { modulusLength: 1024 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  const noSigner = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,digitalSignature'];
  const noAuthority = root.authority('/CN=No Authority', { extensions: ['basicConstraints=CA:FALSE'] });
  const plainCa = root.authority('/CN=No Extensions', { extensions: [] });
  const cannotSign = root.authority('/CN=Cannot Sign', { extensions: noSigner });
  const short = root.authority('/CN=Short', {
    extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0', 'keyUsage=critical,keyCertSign'],
  });
  const belowShort = short.authority('/CN=Below');
  const constrained = root.authority('/CN=Constrained', {
    extensions: [...authorityExtensions, 'nameConstraints=permitted;DNS:example.test'],
  });
  const old = root.authority('/CN=Old', { to: '20210101000000Z' });
  const serversOnly = root.authority('/CN=Servers', {
    extensions: [...authorityExtensions, 'extendedKeyUsage=serverAuth'],
  });
  const weak = root.authority('/CN=Weak', { digest: 'sha1' });
  const weakAuthority = root.authority('/CN=Weak Key', { key: weakKey });
  const of = (issuer: { issue(subject: string): Issued }): Issued => issuer.issue('/CN=ada');
  const bad: readonly (readonly [string, readonly { readonly der: Uint8Array }[]])[] = [
    ['over', [root.issue('/CN=ada', { to: '20210101000000Z' })]],
    ['not valid yet', [root.issue('/CN=ada', { from: '20980101000000Z' })]],
    ['from an authority of the same name', [of(twin)]],
    ['from that authority, sent along', [of(twin), twin]],
    ['self-signed', [pki.root('/CN=ada')]],
    ['a self-signed one, with the true authority', [pki.root('/CN=ada'), root]],
    ['for servers', [root.issue('/CN=ada', { extensions: ['extendedKeyUsage=serverAuth'] })]],
    ['for signing documents', [root.issue('/CN=ada', { extensions: ['keyUsage=critical,nonRepudiation'] })]],
    ['with an unknown critical extension', [root.issue('/CN=ada', { extensions: ['1.2.3.4=critical,ASN1:NULL'] })]],
    ['signed with SHA-1', [root.issue('/CN=ada', { digest: 'sha1' })]],
    ['of a key of 1,024 bits', [root.issue('/CN=ada', { key: weakKey })]],
    ['from one who is no authority', [of(noAuthority), noAuthority]],
    ['from one without extensions', [of(plainCa), plainCa]],
    ['from a client with a certificate', [noAuthority.issue('/CN=ada'), noAuthority, intermediate]],
    ['from an authority that may not sign', [of(cannotSign), cannotSign]],
    ['from too far below', [of(belowShort), belowShort, short]],
    ['from an authority with name constraints', [of(constrained), constrained]],
    ['from an authority that is over', [of(old), old]],
    ['from an authority for servers', [of(serversOnly), serversOnly]],
    ['from an authority with a key of 1,024 bits', [of(weakAuthority), weakAuthority]],
    ['from an authority signed with SHA-1', [of(weak), weak]],
    ['cut off', [{ der: leaf.der.subarray(0, -1) }, intermediate]],
    ['no certificate', [{ der: Buffer.from('hello') }]],
    ['empty', [{ der: Buffer.alloc(0) }]],
  ];
  for (const [what, chain] of bad) {
    it(`does not exist for a certificate that is ${what}`, async () => {
      const one = plugin();
      const { response, upstream } = await one.request(showing(...chain));
      assert.equal(upstream, null);
      assert.equal(response.status, 401);
      assert.match(response.body, /TLS certificate failed verification/);
      assert.equal(one.logLines[0]?.message, 'a client certificate was refused');
    });
  }

  it('exists within the limits that authorities set', async () => {
    const good: readonly (readonly Issued[])[] = [
      [short.issue('/CN=ada'), short],
      [root.issue('/CN=ada', { extensions: ['extendedKeyUsage=serverAuth,clientAuth'] })],
      [root.issue('/CN=ada', { extensions: ['keyUsage=critical,digitalSignature', 'basicConstraints=CA:FALSE'] })],
      [root.issue('/CN=ada', { digest: 'sha512' })],
    ];
    for (const chain of good) assert.equal(await statusOf(plugin(), ...chain), 200);
  });

  it('is not worth more than a few signatures', async () => {
    const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString();
    // Ten authorities with one name and key: each may have issued each.
    const same = pki.root('/CN=Same', { key });
    const loop = Array.from({ length: 9 }, () => same.authority('/CN=Same', { key }));
    const begun = cpuTime();
    assert.equal(await statusOf(plugin(), same.issue('/CN=ada'), ...loop), 401);
    assert.ok(cpuTime() - begun < 200);
  });

  it('is checked once for all requests of a connection, and of those with the same certificates', async () => {
    const one = plugin();
    const request = showing(leaf, { der: Buffer.from('hello') });
    for (let at = 0; at < 3; at++) assert.equal((await one.request(request)).response.status, 401);
    await Promise.all(Array.from({ length: 20 }, () => one.request(showing(leaf, { der: Buffer.from('hello') }))));
    assert.equal(one.logLines.length, 1);
  });
});

describe('mtls-auth and revocation', () => {
  let server: Server;
  let url = '';
  /** What the server of the authority answers. */
  let published: Buffer | string | null = null;
  let asked = 0;
  before(async () => {
    server = createServer((_, response) => {
      asked++;
      if (published === null) response.writeHead(500).end();
      else response.end(published);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    url = `http://127.0.0.1:${address.port}/root.crl`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const good = root.issue('/CN=ada');
  const revoked = root.issue('/CN=ada');

  it('refuses what is in a list of the configuration: as text, file, URL', async () => {
    const pem = root.crl([revoked]);
    const file = join(pki.folder, 'file.crl');
    writeFileSync(file, Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64'));
    published = pem;
    for (const crl of [pem, file, url]) {
      for (const mode of ['IGNORE_CA_ERROR', 'STRICT']) {
        const one = plugin({ crls: [crl], revocation_check_mode: mode });
        assert.equal(await statusOf(one, revoked), 401);
        assert.equal(await statusOf(one, good), 200);
      }
      assert.equal(await statusOf(plugin({ crls: [crl], revocation_check_mode: 'SKIP' }), revoked), 200);
    }
  });

  it('fetches the list that the certificate names, once', async () => {
    published = root.crl([revoked]);
    const named = root.issue('/CN=ada', { extensions: [`crlDistributionPoints=URI:${url}`] });
    const gone = root.issue('/CN=ada', { extensions: [`crlDistributionPoints=URI:${url}`] });
    published = root.crl([gone]);
    const one = plugin({ revocation_check_mode: 'STRICT' });
    const before = asked;
    const statuses = await Promise.all([named, gone, named, gone].map((leaf) => statusOf(one, leaf)));
    assert.deepEqual(statuses, [200, 401, 200, 401]);
    assert.equal(asked, before + 1);
  });

  it('without a list: refuses when it is strict, else accepts, says so and counts it', async () => {
    published = null;
    const named = root.issue('/CN=ada', { extensions: [`crlDistributionPoints=URI:${url}`] });
    const strict = plugin({ revocation_check_mode: 'STRICT' });
    assert.equal(await statusOf(strict, named), 401);
    assert.equal(await statusOf(strict, good), 401, 'it names no list');
    assert.equal(strict.counts.get('mtls-auth.crl_failures'), 1);
    assert.match(String(strict.logLines[0]?.fields['reason']), /answered 500/);
    const lenient = plugin();
    assert.equal(await statusOf(lenient, named), 200);
    assert.equal(await statusOf(lenient, good), 200);
    assert.equal(lenient.counts.get('mtls-auth.crl_failures'), 1);
  });

  it('does not wait longer than it may', async () => {
    const hanging = createServer(() => {});
    hanging.listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const address = hanging.address();
    assert.ok(address !== null && typeof address === 'object');
    const one = plugin({
      crls: Array.from({ length: 30 }, (_, at) => `http://127.0.0.1:${address.port}/${at}`),
      http_timeout: 100,
      revocation_check_mode: 'STRICT',
    });
    const begun = performance.now();
    assert.equal(await statusOf(one, good), 401);
    assert.equal(await statusOf(one, revoked), 401);
    assert.ok(performance.now() - begun < 2000);
    hanging.closeAllConnections();
    hanging.close();
  });

  const unusable: readonly (readonly [string, () => string])[] = [
    ['from another authority', () => other.crl([])],
    ['of an authority with the same name', () => pki.root('/CN=Root').crl([])],
    ['with a broken signature', () => broken(root.crl([]))],
    ['for authorities only', () => root.crl([], { extensions: ['issuingDistributionPoint=critical,onlyCA:TRUE'] })],
    [
      'of another distribution point',
      () => root.crl([], { extensions: ['issuingDistributionPoint=critical,fullname:URI:http://x.test/2'] }),
    ],
    ['that is incremental', () => root.crl([], { extensions: ['deltaCRL=critical,ASN1:INTEGER:1'] })],
    ['with an unknown critical extension', () => root.crl([], { extensions: ['1.2.3.4=critical,ASN1:NULL'] })],
    ['that is none', () => 'hello'],
  ];
  for (const [what, list] of unusable) {
    it(`is not learnt from a list ${what}`, async () => {
      const file = join(pki.folder, 'unusable.crl');
      writeFileSync(file, list());
      assert.equal(await statusOf(plugin({ crls: [file], revocation_check_mode: 'STRICT' }), good), 401);
      assert.equal(await statusOf(plugin({ crls: [file] }), good), 200);
    });
  }

  it('does not believe a list that is over, but for what it says is revoked', async () => {
    const pem = root.crl([revoked], { seconds: 1 });
    const one = plugin({ crls: [pem], revocation_check_mode: 'STRICT', cert_cache_ttl: 0 });
    assert.equal(await statusOf(one, revoked), 401);
    await until(async () => (await statusOf(one, good)) === 401);
    assert.equal(await statusOf(plugin({ crls: [pem] }), revoked), 401);
    assert.equal(await statusOf(plugin({ crls: [pem] }), good), 200);
  });

  it('takes a newer list over, and no forged or older one', async () => {
    const older = root.crl([]);
    const begun = Math.floor(Date.now() / 1000);
    const one = plugin({ crls: [url], revocation_check_mode: 'STRICT', cert_cache_ttl: 1 });
    published = older;
    assert.equal(await statusOf(one, revoked), 200);
    // The times in a list are whole seconds.
    await until(() => Math.floor(Date.now() / 1000) > begun);
    published = root.crl([revoked]);
    await until(async () => (await statusOf(one, revoked)) === 401);
    for (const replacement of [older, pki.root('/CN=Root').crl([]), 'hello']) {
      published = replacement;
      const before = asked;
      await until(async () => {
        assert.equal(await statusOf(one, revoked), 401);
        return asked > before + (replacement === 'hello' ? 0 : 1);
      });
    }
    await until(() => one.logLines.some(({ message }) => message.includes('revocation list')));
    assert.equal(await statusOf(one, revoked), 401);
  });

  it('keeps the list that revokes an intermediate when a forged or older list is published', async () => {
    const doomed = root.authority('/CN=Doomed');
    const leaf = doomed.issue('/CN=ada');
    const older = root.crl([]);
    const begun = Math.floor(Date.now() / 1000);
    await until(() => Math.floor(Date.now() / 1000) > begun);
    published = root.crl([doomed]);
    const one = plugin({ crls: [url], cert_cache_ttl: 1 });
    assert.equal(await statusOf(one, leaf, doomed), 401);
    for (const replacement of [older, pki.root('/CN=Root').crl([]), doomed.crl([])]) {
      published = replacement;
      const before = asked;
      await until(async () => {
        assert.equal(await statusOf(one, leaf, doomed), 401);
        return asked > before + 1;
      });
    }
  });

  it('takes over the list of an authority that has a new key and the same name', async () => {
    const chains = Array.from({ length: 2 }, () => {
      const authority = root.authority('/CN=Renewed');
      const below = authority.authority('/CN=Below');
      return { authority, below, chain: [below.issue('/CN=ada'), below, authority] };
    });
    const lists = [root.crl([]), ...chains.map(({ below }) => below.crl([]))];
    const one = plugin({ crls: [url, ...lists], cert_cache_ttl: 1, revocation_check_mode: 'STRICT' });
    for (const { authority, chain } of chains) {
      published = authority.crl([]);
      await until(async () => (await statusOf(one, ...chain)) === 200);
    }
  });

  it('concerns intermediate authorities too', async () => {
    const doomed = root.authority('/CN=Doomed');
    const leaf = doomed.issue('/CN=ada');
    const lists = [root.crl([doomed]), doomed.crl([])];
    assert.equal(await statusOf(plugin({ crls: lists }), leaf, doomed), 401);
    assert.equal(
      await statusOf(plugin({ crls: [root.crl([]), doomed.crl([])], revocation_check_mode: 'STRICT' }), leaf, doomed),
      200,
    );
    assert.equal(
      await statusOf(plugin({ crls: [doomed.crl([])], revocation_check_mode: 'STRICT' }), leaf, doomed),
      401,
    );
  });

  it('needs an authority that may sign lists', async () => {
    const silent = root.authority('/CN=Silent', {
      extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'],
    });
    const leaf = silent.issue('/CN=ada');
    const config = { crls: [silent.crl([]), root.crl([])], revocation_check_mode: 'STRICT' };
    assert.equal(await statusOf(plugin(config), leaf, silent), 401);
  });
});

/** The last byte of the signature changed. */
function broken(pem: string): string {
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  der[der.byteLength - 1]! ^= 1;
  return `-----BEGIN X509 CRL-----\n${der.toString('base64')}\n-----END X509 CRL-----\n`;
}
