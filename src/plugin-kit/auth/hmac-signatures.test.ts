import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HmacScheme, signHmac, timestampProblem, verifyHmac } from './index.ts';

const hex: HmacScheme = { algorithm: 'sha256', encoding: 'hex' };
const payload = 'what do ya want for nothing?';
/** RFC 4231, test case 2. */
const known = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';

test('signatures are those of RFC 4231', () => {
  assert.equal(signHmac(hex, 'Jefe', payload), known);
  assert.equal(signHmac(hex, 'Jefe', ['what do ya want', Buffer.from(' for nothing?')]), known);
  const long = signHmac({ algorithm: 'sha512', encoding: 'hex' }, 'Jefe', payload);
  assert.match(long, /^164b7a7bfcf819e2e395fbe73b56e0a3/);
});

test('a signature of any secret is valid, in each encoding', () => {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    for (const algorithm of ['sha256', 'sha512'] as const) {
      const signature = signHmac({ algorithm, encoding }, 'old', payload);
      const check = { algorithm, encoding, signature, payload };
      assert.equal(verifyHmac({ ...check, secrets: ['new', 'old'] }), true);
      assert.equal(verifyHmac({ ...check, secrets: ['new'] }), false);
      assert.equal(verifyHmac({ ...check, secrets: ['old'], payload: `${payload}x` }), false);
    }
  }
  assert.equal(verifyHmac({ ...hex, secrets: ['Jefe'], signature: known.toUpperCase(), payload }), true);
});

test('nothing is valid without a signature or without a secret', () => {
  const signatures = [
    null,
    '',
    known.slice(2),
    `${known}00`,
    `${known}\n`,
    ` ${known}`,
    `zz${known.slice(2)}`,
    known.slice(1),
  ];
  for (const signature of signatures) {
    assert.equal(verifyHmac({ ...hex, secrets: ['Jefe'], signature, payload }), false, String(signature));
  }
  assert.equal(verifyHmac({ ...hex, secrets: [], signature: known, payload }), false);
  assert.equal(verifyHmac({ ...hex, secrets: [''], signature: signHmac(hex, '', payload), payload }), false);
});

test('a base64 signature has one spelling', () => {
  const signature = signHmac({ ...hex, encoding: 'base64' }, 'Jefe', payload);
  const check = { ...hex, encoding: 'base64', secrets: ['Jefe'], payload } as const;
  assert.equal(verifyHmac({ ...check, signature }), true);
  for (const other of [signature.slice(0, -1), `${signature}=`, `${signature}AAAA`]) {
    assert.equal(verifyHmac({ ...check, signature: other }), false, other);
  }
});

test('a timestamp lies within the tolerance, in both directions', () => {
  const now = 1_800_000_000_000;
  const cases = [
    ['1800000000', null],
    ['1799999700', null],
    ['1799999699', 'too old'],
    ['1800000300', null],
    ['1800000301', 'in the future'],
    [null, 'missing'],
    ['', 'malformed'],
    ['1e9', 'malformed'],
    ['-1', 'malformed'],
    [' 1800000000', 'malformed'],
    ['9'.repeat(13), 'malformed'],
  ] as const;
  for (const [text, problem] of cases) assert.equal(timestampProblem(text, 300, now), problem, String(text));
});
