import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { selfSignedCertificate } from '../../shared/tls/self-signed.ts';
import { defaultCertificate } from './default-certificate.ts';

const prefix = mkdtempSync(join(tmpdir(), 'sluicegate-certificate-'));
after(() => rmSync(prefix, { recursive: true }));
const file = (name: string): string => join(prefix, 'ssl', name);

test('creates a certificate once, and only its owner can read the key', () => {
  const made = defaultCertificate(prefix);
  assert.deepEqual(defaultCertificate(prefix), made);
  assert.equal(readFileSync(file('default.crt'), 'utf8'), made.cert);
  assert.equal(statSync(file('default.key')).mode & 0o777, 0o600);
  assert.equal(statSync(join(prefix, 'ssl')).mode & 0o777, 0o700);
});

test('replaces a certificate that is broken, about to expire, or has another key', () => {
  for (const spoil of [
    () => writeFileSync(file('default.crt'), 'nonsense'),
    () => writeFileSync(file('default.key'), selfSignedCertificate(1000).key),
    () => {
      const short = selfSignedCertificate(3);
      writeFileSync(file('default.crt'), short.cert);
      writeFileSync(file('default.key'), short.key);
    },
  ]) {
    const before = defaultCertificate(prefix);
    spoil();
    const made = defaultCertificate(prefix);
    assert.notEqual(made.cert, before.cert);
    assert.deepEqual(defaultCertificate(prefix), made);
  }
});
