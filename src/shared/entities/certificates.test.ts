import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caCertificates } from './ca-certificates.ts';
import * as pem from './certificates.fixture.ts';
import { certificates } from './certificates.ts';
import { created, NOW, refusal } from './expect-row.fixture.ts';
import { buildRow, presentRow } from './rows.ts';
import { snis } from './snis.ts';

const pair = { cert: pem.rsaCertificate, key: pem.rsaKey };

test('a certificate with its key is accepted, and one of another type next to it', () => {
  const row = created(certificates, { ...pair, cert_alt: pem.ecCertificate, key_alt: pem.ecKey });
  assert.equal(row['cert'], pem.rsaCertificate);
});

const refusals: readonly [what: string, body: Record<string, unknown>, message: RegExp][] = [
  ['no key', { cert: pem.rsaCertificate }, /^schema violation \(key: required field missing\)$/],
  ['an invalid certificate', { ...pair, cert: 'x' }, /^schema violation \(cert: invalid certificate: /],
  ['an invalid key', { ...pair, key: 'x' }, /^schema violation \(key: invalid key: /],
  [
    'the key of another certificate',
    { ...pair, key: pem.ecKey },
    /^schema violation \(certificate does not match key\)$/,
  ],
  [
    'a second certificate without its key',
    { ...pair, cert_alt: pem.ecCertificate },
    /^schema violation \(all or none of these fields must be set: 'cert_alt', 'key_alt'\)$/,
  ],
  [
    'a second certificate with the wrong key',
    { ...pair, cert_alt: pem.ecCertificate, key_alt: pem.rsaKey },
    /^schema violation \(alternative certificate does not match key\)$/,
  ],
  [
    'a second certificate of the same type',
    { ...pair, cert_alt: pem.rsaCertificate, key_alt: pem.rsaKey },
    /^schema violation \(certificate and alternative certificate need to have different type \(e\.g\. RSA and ECDSA\), the provided certificates were both of the same type\)$/,
  ],
  ['a name twice', { ...pair, snis: ['a.com', 'a.com'] }, /^schema violation \(snis: a\.com is duplicated\)$/],
];

for (const [what, body, message] of refusals) {
  test(`${what} is refused`, () => {
    assert.match(refusal(certificates, body), message);
  });
}

test('vault references are not resolved', () => {
  created(certificates, { cert: '{vault://env/cert}', key: '{vault://env/key}' });
  created(certificates, { cert: '{vault://env/cert}', key: pem.rsaKey });
});

test('the names of a certificate are not part of its row, but are shown', () => {
  const result = buildRow(certificates, { ...pair, snis: ['b.com', 'a.com'] }, { now: NOW });
  assert.ok(result.ok);
  assert.ok(!Object.hasOwn(result.row, 'snis'));
  assert.deepEqual(result.virtual, { snis: ['b.com', 'a.com'] });
  assert.deepEqual(presentRow(certificates, result.row, { snis: ['a.com', 'b.com'] })['snis'], ['a.com', 'b.com']);
  assert.deepEqual(presentRow(certificates, result.row)['snis'], []);
});

test('missing names are distinguished from an empty list', () => {
  const result = buildRow(certificates, pair, { now: NOW });
  assert.deepEqual(result.ok && result.virtual, {});
});

test('an authority gets the digest of its certificate', () => {
  const row = created(caCertificates, { cert: pem.authority, cert_digest: 'mine' });
  assert.match(String(row['cert_digest']), /^[0-9a-f]{64}$/);
});

const authorities: readonly [what: string, cert: string, message: string][] = [
  ['two certificates', pem.authority + pem.authority, 'please submit only one certificate at a time'],
  ['an expired one', pem.expiredAuthority, 'certificate expired, "Not After" time is in the past'],
  [
    'one that is not an authority',
    pem.rsaCertificate,
    'certificate does not appear to be a CA because it is missing the "CA" basic constraint',
  ],
];

for (const [what, cert, message] of authorities) {
  test(`as an authority, ${what} is refused`, () => {
    assert.equal(refusal(caCertificates, { cert }), `schema violation (${message})`);
  });
}

const certificate = { id: '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10' };
const names: readonly [name: string, message: string][] = [
  ['1.2.3.4', 'must not be an IP'],
  ['a.com:80', 'must not have a port'],
  ['a*b', 'wildcard must be leftmost or rightmost character'],
  ['*.a.*', 'only one wildcard must be specified'],
];

for (const [name, message] of names) {
  test(`the server name ${name} is refused`, () => {
    assert.equal(refusal(snis, { name, certificate }), `schema violation (name: ${message})`);
  });
}

test('a server name belongs to a certificate', () => {
  assert.equal(refusal(snis, { name: '*.a.com' }), 'schema violation (certificate: required field missing)');
  assert.equal(created(snis, { name: '*.a.com', certificate })['name'], '*.a.com');
});
