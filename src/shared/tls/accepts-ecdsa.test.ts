import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offersEcdsa } from './accepts-ecdsa.ts';

const ecdsa = Buffer.from([0xc0, 0x2c]);
const rsa = Buffer.from([0xc0, 0x2f, 0xc0, 0x30, 0x00, 0x9c]);

test('a certificate with an EC key needs a cipher that is offered and allowed', () => {
  assert.equal(offersEcdsa(rsa, null), false);
  assert.equal(offersEcdsa(ecdsa, null), true);
  assert.equal(offersEcdsa(Buffer.concat([rsa, ecdsa]), 'HIGH:!aNULL:@SECLEVEL=0'), true);
  assert.equal(offersEcdsa(ecdsa, 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256'), true);
  assert.equal(offersEcdsa(ecdsa, 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256'), false);
  assert.equal(offersEcdsa(Buffer.from([0xc0]), null), false);
  assert.equal(offersEcdsa(Buffer.alloc(0), null), false);
});
