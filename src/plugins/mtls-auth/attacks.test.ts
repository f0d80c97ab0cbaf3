import assert from 'node:assert/strict';
import { sign, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import * as der from '../../plugin-kit/der/index.ts';
import { type PluginTest, testPlugin } from '../../plugin-testing/index.ts';
import { childrenOf, derOf, rawOf } from './der.ts';
import mtlsAuth from './index.ts';
import { authorityExtensions, criticalExtension, crlEntry, handmadeCrl, type Issued, TestPki } from './pki.fixture.ts';

const pki = new TestPki();
after(() => pki.close());
const root = pki.root('/CN=Root');
const rootId = '11111111-1111-4111-8111-111111111111';
const ada = { id: '55555550-5555-4555-8555-555555555555', created_at: 1, username: 'ada' };
const usage = 'keyUsage=critical,keyCertSign,cRLSign';

function plugin(config: Readonly<Record<string, unknown>> = {}, trusted: Issued = root): PluginTest {
  return testPlugin(mtlsAuth, {
    config: { ca_certificates: [rootId], ...config },
    entities: { consumers: [ada], ca_certificates: [{ id: rootId, created_at: 1, cert: trusted.cert }] },
  });
}

async function statusOf(one: PluginTest, ...chain: readonly Issued[]): Promise<number> {
  const clientCertificates = chain.map(({ der }) => der);
  return (await one.request({ scheme: 'https', clientCertificates })).response.status;
}

describe('mtls-auth and hostile certificate paths', () => {
  const genuine = root.authority('/CN=Genuine');
  const forged = pki.root('/CN=Root').authority('/CN=Genuine');

  it('rejects a forged intermediate with the name of a genuine one, in any order', async () => {
    const stolen = forged.issue('/CN=ada');
    assert.equal(await statusOf(plugin(), stolen, forged), 401);
    assert.equal(await statusOf(plugin(), stolen, forged, genuine), 401);
    assert.equal(await statusOf(plugin(), stolen, genuine, forged), 401);
    const own = genuine.issue('/CN=ada');
    assert.equal(await statusOf(plugin(), own, forged, genuine), 200);
  });

  it('rejects a client certificate that signs another one', async () => {
    const client = root.authority('/CN=ada', { extensions: ['keyUsage=critical,digitalSignature,keyCertSign'] });
    assert.equal(await statusOf(plugin(), client.issue('/CN=ada'), client), 401);
  });

  it('rejects a path longer than the trusted authority allows', async () => {
    for (const [limit, status] of [
      [0, 401],
      [1, 200],
    ] as const) {
      const short = pki.root('/CN=Short', {
        extensions: [`basicConstraints=critical,CA:TRUE,pathlen:${limit}`, usage],
      });
      const below = short.authority('/CN=Below');
      assert.equal(await statusOf(plugin({}, short), below.issue('/CN=ada'), below), status);
    }
  });

  it('rejects a path longer than an authority two levels up allows', async () => {
    const top = root.authority('/CN=Top', { extensions: ['basicConstraints=critical,CA:TRUE,pathlen:1', usage] });
    const middle = top.authority('/CN=Middle');
    const low = middle.authority('/CN=Low');
    assert.equal(await statusOf(plugin(), middle.issue('/CN=ada'), middle, top), 200);
    assert.equal(await statusOf(plugin(), low.issue('/CN=ada'), low, middle, top), 401);
  });

  const malformed: readonly (readonly [string, readonly string[]])[] = [
    ['an unknown critical extension', [...authorityExtensions, '1.2.3.4=critical,ASN1:NULL']],
    ['a negative path length', ['basicConstraints=critical,DER:30060101ff0201ff', usage]],
    ['a path length, but no authority flag', ['basicConstraints=critical,DER:3003020100', usage]],
    ['malformed basic constraints', ['basicConstraints=critical,DER:0500', usage]],
    ['a key usage that does not include certificates', [authorityExtensions[0]!, 'keyUsage=critical,cRLSign']],
    ['a malformed extended key usage', [...authorityExtensions, 'extendedKeyUsage=DER:0500']],
    ['name constraints that are not critical', [...authorityExtensions, 'nameConstraints=excluded;DNS:x.test']],
    ['policy constraints', [...authorityExtensions, 'policyConstraints=critical,requireExplicitPolicy:0']],
  ];
  for (const [what, extensions] of malformed) {
    it(`rejects an authority with ${what}`, async () => {
      const authority = root.authority('/CN=Odd', { extensions });
      assert.equal(await statusOf(plugin(), authority.issue('/CN=ada'), authority), 401);
    });
  }

  it('rejects a client certificate with a malformed extended key usage', async () => {
    assert.equal(await statusOf(plugin(), root.issue('/CN=ada', { extensions: ['extendedKeyUsage=DER:0500'] })), 401);
  });

  it('rejects a client certificate with a duplicate extension', async () => {
    const usages = 'DER:300a06082b06010505070302';
    for (const [id, status] of [
      ['1.2.3', 200],
      ['2.5.29.37', 401],
    ] as const) {
      const client = root.issue('/CN=ada', { extensions: ['extendedKeyUsage=clientAuth', `1.2.3.4=${usages}`] });
      // The identifiers of both have three bytes.
      const changed = id === '1.2.3' ? client : resigned(client, '06032a0304', '0603551d25');
      assert.equal(await statusOf(plugin(), changed), status, id);
    }
  });

  it('rejects untrusted authorities that signed each other, without searching for long', async () => {
    const one = pki.root('/CN=One');
    const two = one.authority('/CN=Two');
    const back = pki.root('/CN=Two', { key: two.key }).authority('/CN=One', { key: one.key });
    const client = two.issue('/CN=ada');
    const begun = cpuTime();
    assert.equal(await statusOf(plugin(), client, two, back), 401);
    assert.equal(await statusOf(plugin(), client, two, back, one), 401);
    assert.ok(cpuTime() - begun < 500);
  });

  it('checks a certificate with 4,000 names in less than 500 ms', async () => {
    const names = Array.from({ length: 4000 }, (_, at) => `DNS.${at}=host-${at}.example.test`);
    const large = pki.root('/CN=ada', { extensions: ['subjectAltName=@names', '[names]', ...names] });
    assert.ok(large.der.byteLength > 80_000);
    const begun = cpuTime();
    assert.equal(await statusOf(plugin(), large), 401);
    assert.ok(cpuTime() - begun < 500);
  });
});

describe('mtls-auth and hostile revocation lists', () => {
  const good = root.issue('/CN=ada');
  const lost = root.issue('/CN=ada');
  const { serialNumber: serial } = new X509Certificate(lost.cert);
  const parts = { issuer: 'Root', key: root.key };
  const revoked = { ...parts, entries: crlEntry(padded(serial)) };

  async function statusesWith(list: Buffer): Promise<readonly number[]> {
    const one = plugin({ crls: [fileOf(list)], revocation_check_mode: 'STRICT' });
    return [await statusOf(one, good), await statusOf(one, lost)];
  }

  it('accepts a well-formed list from the issuer', async () => {
    assert.deepEqual(await statusesWith(handmadeCrl(revoked)), [200, 401]);
  });

  const bad: readonly (readonly [string, () => Buffer])[] = [
    ['that is indirect', () => Buffer.from(root.crl([], { extensions: [point('indirectCRL:TRUE')] }))],
    [
      'for some reasons only',
      () => Buffer.from(root.crl([], { extensions: [point('onlysomereasons:keyCompromise')] })),
    ],
    ['of attribute certificates', () => Buffer.from(root.crl([], { extensions: [point('onlyAA:TRUE')] }))],
    ['from the future', () => handmadeCrl({ ...parts, thisUpdate: Date.now() + 3_600_000 })],
    ['signed with SHA-1', () => handmadeCrl({ ...parts, digest: 'sha1' })],
    ['signed by the key of a client', () => handmadeCrl({ ...parts, key: pki.clientKey })],
    ['with trailing bytes', () => Buffer.concat([handmadeCrl(parts), Buffer.of(5, 0)])],
    ['that comes twice in one file', () => Buffer.concat([handmadeCrl(parts), handmadeCrl(parts)])],
    ['with an entry of another issuer', () => handmadeCrl({ ...parts, entries: crlEntry('01', issuerOfEntry) })],
    ['with malformed entries', () => handmadeCrl({ ...parts, entries: Buffer.of(0x30, 0x03, 0x02, 0x01, 0x01) })],
    ['with an unknown field', () => handmadeCrl({ ...parts, more: der.tlv(0x05) })],
  ];
  for (const [what, list] of bad) {
    it(`rejects a list ${what}`, async () => {
      assert.equal((await statusesWith(list()))[0], 401);
    });
  }

  it('rejects a list larger than 16 MB', async () => {
    const list = handmadeCrl({ ...parts, entries: filler(17 * 1024 * 1024, crlEntry('01')) });
    assert.deepEqual(await statusesWith(list), [401, 401]);
  });

  /** Contents of 16 MB that take seconds to read, from an attacker who cannot sign them. */
  const limit = 16 * 1024 * 1024 - 1000;
  const extension = der.sequence(der.tlv(0x06, Buffer.of(0x55, 0, 0, 0)), der.tlv(0x04));
  const entry = der.sequence(der.tlv(0x02, Buffer.alloc(3)), der.tlv(0x17));
  const huge: readonly (readonly [string, Pick<Parameters<typeof handmadeCrl>[0], 'entries' | 'more'>])[] = [
    ['tiny entries', { entries: numbered(filler(limit, entry), entry, 4) }],
    [
      'extensions in one entry',
      { entries: crlEntry('01', der.sequence(numbered(filler(limit, extension), extension, 5))) },
    ],
    ['fields', { more: filler(limit, der.tlv(0x05)) }],
    ['extensions', { more: der.tlv(0xa0, der.sequence(numbered(filler(limit, extension), extension, 5))) }],
  ];
  for (const [what, contents] of huge) {
    it(`rejects 16 MB of ${what} in less than a second when the signature is wrong`, async () => {
      const file = fileOf(handmadeCrl({ ...parts, key: pki.clientKey, ...contents }));
      const one = plugin({ crls: [file], revocation_check_mode: 'STRICT' });
      const begun = cpuTime();
      assert.equal(await statusOf(one, good), 401);
      assert.ok(cpuTime() - begun < 1000);
    });
  }

  it('accepts a list with 100,000 entries', async () => {
    const entries = Array.from({ length: 100_000 }, (_, at) => crlEntry((0x10000000 + at).toString(16)));
    const list = handmadeCrl({ ...parts, entries: Buffer.concat([...entries, revoked.entries]) });
    assert.deepEqual(await statusesWith(list), [200, 401]);
  });
});

/** The certificate with some bytes changed, signed again by the root. Both are hexadecimal. */
function resigned(client: Issued, before: string, after: string): Issued {
  const [info, algorithm] = childrenOf(derOf(client.der));
  const text = rawOf(info!).toString('hex');
  assert.ok(text.includes(before));
  const signed = Buffer.from(text.replace(before, after), 'hex');
  return { ...client, der: der.sequence(signed, rawOf(algorithm!), der.bitString(sign('sha256', signed, root.key))) };
}

const issuerOfEntry = der.sequence(criticalExtension(['2.5.29.29', der.sequence(der.tlv(0xa4, der.sequence()))]));

/** Milliseconds of CPU time that the process has used: other processes do not change it. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function point(text: string): string {
  return `issuingDistributionPoint=critical,${text}`;
}

function padded(serial: string): string {
  return Number.parseInt(serial.slice(0, 2), 16) >= 0x80 ? `00${serial}` : serial;
}

function fileOf(list: Buffer): string {
  const file = join(pki.folder, 'attack.crl');
  writeFileSync(file, list);
  return file;
}

/** The unit, repeated up to this number of bytes. */
function filler(bytes: number, unit: Buffer): Buffer {
  return Buffer.alloc(bytes - (bytes % unit.byteLength), unit);
}

/** Makes the units different: each gets a number of three bytes at `at`, in a serial number or an identifier. */
function numbered(list: Buffer, { byteLength }: Buffer, at: number): Buffer {
  for (let start = 0, count = 0; start < list.byteLength; start += byteLength, count++) {
    list.set([0x80 | ((count >> 14) & 0x7f), 0x80 | ((count >> 7) & 0x7f), count & 0x7f], start + at);
  }
  return list;
}
