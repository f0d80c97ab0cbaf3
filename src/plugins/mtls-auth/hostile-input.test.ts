import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { type Crl, covers, readCrl } from './crl.ts';
import { findPath } from './path.ts';
import { TestPki } from './pki.fixture.ts';

const pki = new TestPki();
const root = pki.root('/CN=Root');
const authority = readCertificate(root.cert);
const leaf = root.issue('/O=Acme/CN=ada', {
  extensions: [
    'subjectAltName=DNS:a.test,email:a@b.test,IP:10.0.0.1,URI:spiffe://a/b',
    'extendedKeyUsage=clientAuth',
    'crlDistributionPoints=URI:http://a.test/crl',
  ],
});
after(() => pki.close());

const options = { authorities: [{ id: 'root', certificate: authority }], allowPartial: false, now: Date.now() };

function isAccepted(der: Buffer): boolean {
  let certificate: Certificate;
  try {
    certificate = readCertificate(der);
  } catch {
    return false;
  }
  return typeof findPath([certificate], options) !== 'string';
}

function isBelieved(der: Buffer): boolean {
  let crl: Crl;
  try {
    crl = readCrl(der);
  } catch {
    return false;
  }
  return covers(crl, readCertificate(leaf.der), authority, true);
}

/** Each byte changed, left out and doubled; each beginning. */
function* broken(original: Buffer): Iterable<readonly [string, Buffer]> {
  for (let at = 0; at < original.byteLength; at++) {
    for (const bit of [0x01, 0x80]) {
      const changed = Buffer.from(original);
      changed[at]! ^= bit;
      yield [`bit ${bit} of byte ${at}`, changed];
    }
    yield [`without byte ${at}`, Buffer.concat([original.subarray(0, at), original.subarray(at + 1)])];
    yield [`byte ${at} twice`, Buffer.concat([original.subarray(0, at + 1), original.subarray(at)])];
    yield [`the first ${at} bytes`, original.subarray(0, at)];
  }
  yield ['a byte more', Buffer.concat([original, Buffer.of(0)])];
}

test('a certificate is worth nothing once any byte of it is another', () => {
  assert.ok(isAccepted(leaf.der));
  for (const [what, der] of broken(leaf.der)) assert.ok(!isAccepted(der), what);
});

test('so is a revocation list', () => {
  const pem = root.crl([leaf], { extensions: ['crlNumber=ASN1:INTEGER:1'] });
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  assert.ok(isBelieved(der));
  for (const [what, changed] of broken(der)) assert.ok(!isBelieved(changed), what);
});

test('deep nesting and large lengths are nothing to wait for', () => {
  const begun = cpuTime();
  let nested: Buffer = Buffer.of(0x30, 0x00);
  while (nested.byteLength < 50_000) nested = sequence(nested);
  for (const der of [nested, Buffer.from('3084ffffffff00', 'hex'), Buffer.alloc(100_000, 0x30), Buffer.alloc(0)]) {
    assert.ok(!isAccepted(der));
    assert.ok(!isBelieved(der));
  }
  assert.ok(cpuTime() - begun < 2000);
});

/** A SEQUENCE with this content, in DER. */
function sequence(content: Buffer): Buffer {
  const { byteLength } = content;
  if (byteLength < 0x80) return Buffer.concat([Buffer.of(0x30, byteLength), content]);
  if (byteLength < 0x100) return Buffer.concat([Buffer.of(0x30, 0x81, byteLength), content]);
  return Buffer.concat([Buffer.of(0x30, 0x82, byteLength >> 8, byteLength & 0xff), content]);
}
