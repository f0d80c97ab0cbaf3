import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { clusterCertificate, selfSignedCertificate } from './self-signed.ts';

test('creates a self-signed certificate for localhost', () => {
  const { cert, key } = selfSignedCertificate(10);
  const parsed = new X509Certificate(cert);
  assert.ok(parsed.verify(parsed.publicKey));
  assert.ok(parsed.checkPrivateKey(createPrivateKey(key)));
  assert.equal(parsed.checkHost('localhost'), 'localhost');
  assert.equal(parsed.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(parsed.checkIP('::1'), '::1');
  assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  const days = (Date.parse(parsed.validTo) - Date.now()) / 86_400_000;
  assert.ok(days > 9.9 && days < 10.1, String(days));
  assert.notEqual(parsed.serialNumber, new X509Certificate(selfSignedCertificate(10).cert).serialNumber);
});

test('creates a certificate for both ends of a connection between control plane and data plane', () => {
  const { cert, key } = clusterCertificate(20);
  const parsed = new X509Certificate(cert);
  assert.ok(parsed.verify(parsed.publicKey));
  assert.ok(parsed.checkPrivateKey(createPrivateKey(key)));
  assert.equal(parsed.subject, 'CN=kong_clustering');
  assert.equal(parsed.publicKey.asymmetricKeyDetails?.namedCurve, 'secp384r1');
  assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  const days = (Date.parse(parsed.validTo) - Date.now()) / 86_400_000;
  assert.ok(days > 19.9 && days < 20.1, String(days));
});
