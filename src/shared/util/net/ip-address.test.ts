import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalIp, ipInHeader } from './ip-address.ts';

for (const [text, canonical] of [
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::FFFF:203.0.113.9', '203.0.113.9'],
  ['::ffff:cb00:7109', '203.0.113.9'],
  ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
  ['0000:0000:0000:0000:0000:ffff:cb00:7109', '203.0.113.9'],
  ['64:ff9b::203.0.113.9', '203.0.113.9'],
  ['0064:FF9B:0:0:0:0:cb00:7109', '203.0.113.9'],
  ['::ffff:255.255.255.255', '255.255.255.255'],
  ['2001:0DB8:0:0::1', '2001:db8::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:203.0.113.9%eth0', '203.0.113.9'],
  // Neither mapped nor NAT64.
  ['::203.0.113.9', '::cb00:7109'],
  ['64:ff9b:1::203.0.113.9', '64:ff9b:1::cb00:7109'],
  ['::fffe:203.0.113.9', '::fffe:cb00:7109'],
  ['::1', '::1'],
] as const) {
  test(`${text} is ${canonical}`, () => {
    assert.equal(canonicalIp(text), canonical);
    assert.equal(canonicalIp(canonical), canonical);
  });
}

for (const text of [
  '',
  'x',
  '1.2.3',
  '01.2.3.4',
  '1.2.3.4 ',
  '1.2.3.4:80',
  '[::1]',
  '::ffff:1.2.3.256',
  '0x7f.0.0.1',
  '%',
]) {
  test(`'${text}' is not an address`, () => assert.equal(canonicalIp(text), null));
}

for (const [text, canonical] of [
  ['203.0.113.9:4711', '203.0.113.9'],
  ['\t203.0.113.9 ', '203.0.113.9'],
  ['[::ffff:203.0.113.9]', '203.0.113.9'],
  ['[::ffff:203.0.113.9]:4711', '203.0.113.9'],
  ['::ffff:203.0.113.9:4711', '203.0.113.9'],
  ['[64:ff9b::cb00:7109]:1', '203.0.113.9'],
  ['[fe80::1%eth0]:80', 'fe80::1'],
  // The last group of an IPv6 address without brackets is no port.
  ['2001:db8::1:4711', '2001:db8::1:4711'],
] as const) {
  test(`a header field with '${text}' names ${canonical}`, () => assert.equal(ipInHeader(text), canonical));
}

for (const text of [
  '[::1',
  '[::1]x',
  '[::1]:',
  '[::1]:123456',
  '1.2.3.4:',
  '1.2.3.4:port',
  ':80',
  '[]',
  'unknown',
  '_hidden',
]) {
  test(`a header field with '${text}' has no address`, () => assert.equal(ipInHeader(text), null));
}
