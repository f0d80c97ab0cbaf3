import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type IpRange, ipTable } from './index.ts';

const ranges: readonly IpRange[] = [
  ['1.0.0.0', '1.0.0.255', 'AU'],
  ['1.0.1.0', '1.0.3.255', 'CN'],
  ['9.9.9.9', '9.9.9.9', 'US'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'AU'],
];

test('an address has the value of its range', () => {
  const find = ipTable(ranges);
  for (const [ip, value] of [
    ['0.255.255.255', null],
    ['1.0.0.0', 'AU'],
    ['1.0.0.255', 'AU'],
    ['1.0.1.0', 'CN'],
    ['1.0.4.0', null],
    ['9.9.9.9', 'US'],
    ['::ffff:9.9.9.9', 'US'],
    ['2001:db8::1', 'AU'],
    ['2001:db9::', null],
    ['no address', null],
  ] as const) {
    assert.equal(find(ip), value, ip);
  }
  assert.equal(ipTable([])('1.1.1.1'), null);
});

test('a table that cannot be searched is refused', () => {
  const [first, second] = ranges as [IpRange, IpRange];
  assert.throws(() => ipTable([second, first]), /range 2: the ranges are not in order/);
  assert.throws(() => ipTable([first, first]), /range 2/);
  assert.throws(() => ipTable([['1.0.0.9', '1.0.0.0', 'AU']]), /range 1/);
  assert.throws(() => ipTable([['1.0.0', 'x', 'AU']]), /range 1: an address is not valid/);
});
