import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { test } from 'node:test';
import { ipSet } from './ip-set.ts';

test('an IPv4 range holds its first and last address and no neighbour', () => {
  const set = ipSet(['10.1.2.0/23']);
  assert.equal(set.has('10.1.1.255'), false);
  assert.equal(set.has('10.1.2.0'), true);
  assert.equal(set.has('10.1.3.255'), true);
  assert.equal(set.has('10.1.4.0'), false);
});

test('host bits below the prefix are ignored', () => {
  assert.equal(ipSet(['10.1.2.3/8']).has('10.255.0.1'), true);
  assert.equal(ipSet(['2001:db8::1/32']).has('2001:db8:ffff::2'), true);
});

test('the widest and the narrowest prefixes work in both families', () => {
  assert.equal(ipSet(['0.0.0.0/0']).has('255.255.255.255'), true);
  assert.equal(ipSet(['255.255.255.255']).has('255.255.255.255'), true);
  assert.equal(ipSet(['255.255.255.255/32']).has('255.255.255.254'), false);
  assert.equal(ipSet(['::/0']).has('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), true);
  assert.equal(ipSet(['::1']).has('::1'), true);
  assert.equal(ipSet(['::1']).has('::2'), false);
});

test('an IPv4-mapped IPv6 address counts as the IPv4 address in it, in a range and in a lookup', () => {
  assert.equal(ipSet(['10.0.0.0/8']).has('::ffff:10.1.2.3'), true);
  assert.equal(ipSet(['10.0.0.0/8']).has('::ffff:a01:203'), true);
  assert.equal(ipSet(['::ffff:10.0.0.0/104']).has('10.200.0.1'), true);
  assert.equal(ipSet(['::ffff:10.0.0.0/104']).has('11.0.0.1'), false);
});

test('the families are apart: ::/0 holds no IPv4 address', () => {
  assert.equal(ipSet(['::/0']).has('10.0.0.1'), false);
  assert.equal(ipSet(['0.0.0.0/0']).has('::1'), false);
});

test('overlapping and adjacent ranges are merged', () => {
  const set = ipSet(['10.0.0.0/9', '10.128.0.0/9', '10.3.0.0/16', '192.168.1.1', '192.168.1.1']);
  assert.equal(set.size, 2);
  assert.equal(set.has('10.200.1.1'), true);
});

test('a zone of a link-local address is ignored in a lookup and rejected in an entry', () => {
  assert.equal(ipSet(['fe80::/10']).has('fe80::1%eth0'), true);
  assert.throws(() => ipSet(['fe80::1%eth0']), { message: "invalid ip or cidr range: 'fe80::1%eth0'" });
});

for (const entry of [
  '',
  'x',
  '1.2.3',
  '1.2.3.4.5',
  '01.2.3.4',
  '1.2.3.256',
  '1.2.3.4/33',
  '1.2.3.4/',
  '1.2.3.4/08',
  '1.2.3.4/-1',
  '::1/129',
  '1::2::3',
  '10.0.0.0/8/8',
  ' 10.0.0.1',
]) {
  test(`the entry '${entry}' is refused by name`, () => {
    assert.throws(() => ipSet([entry]), { message: `invalid ip or cidr range: '${entry}'` });
  });
}

for (const text of ['', 'unknown', '10.0.0', '10.0.0.1:80', '0x0a.0.0.1', '10.0.0.01', '[::1]']) {
  test(`'${text}' is in no set`, () => {
    assert.equal(ipSet(['0.0.0.0/0', '::/0']).has(text), false);
  });
}

test('it agrees with the runtime on random ranges and addresses of both families', () => {
  let seed = 20251121;
  const next = (limit: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed % limit;
  };
  const v4 = () => `10.${next(4)}.${next(256)}.${next(256)}`;
  const v6 = () => `2001:db8:${next(4).toString(16)}:${next(65536).toString(16)}::${next(65536).toString(16)}`;
  for (let round = 0; round < 50; round++) {
    const entries: string[] = [];
    const reference = new BlockList();
    for (let at = 0; at < 20; at++) {
      const [address, prefix] = at % 2 === 0 ? [v4(), 12 + next(21)] : [v6(), 40 + next(89)];
      entries.push(`${address}/${prefix}`);
      reference.addSubnet(address, prefix, at % 2 === 0 ? 'ipv4' : 'ipv6');
    }
    const set = ipSet(entries);
    for (let at = 0; at < 200; at++) {
      const address = at % 2 === 0 ? v4() : v6();
      const expected = reference.check(address, at % 2 === 0 ? 'ipv4' : 'ipv6');
      assert.equal(set.has(address), expected, `${address} in ${entries.join(' ')}`);
    }
  }
});
