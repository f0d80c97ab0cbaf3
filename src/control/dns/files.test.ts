import assert from 'node:assert/strict';
import { test } from 'node:test';
import { candidates } from './client/candidates.ts';
import { parseHosts } from './hosts-file.ts';
import { parseResolvConf } from './resolv-conf.ts';

test('resolv.conf: servers, suffixes and options', () => {
  const text = `# comment
nameserver 10.0.0.2 ; the first
nameserver fe80::1
nameserver nonsense
search a.test
search B.test. c.test
options ndots:5 timeout:3 edns0
options attempts:4 rotate\r
`;
  assert.deepEqual(parseResolvConf(text), {
    servers: ['10.0.0.2', 'fe80::1'],
    search: ['b.test', 'c.test'],
    ndots: 5,
    timeout: 3_000,
    attempts: 4,
    rotate: true,
  });
});

test('resolv.conf: what is missing or out of bounds', () => {
  const missing = { servers: [], search: [], ndots: 1, timeout: 2_000, attempts: 2, rotate: false };
  assert.deepEqual(parseResolvConf(''), missing);
  assert.deepEqual(parseResolvConf('options ndots:x timeout: attempts:-1\nnameserver\n'), missing);
  const { ndots, timeout, attempts } = parseResolvConf('options ndots:99 timeout:0 attempts:99');
  assert.deepEqual([ndots, timeout, attempts], [15, 1_000, 5]);
  assert.deepEqual(parseResolvConf('domain d.test').search, ['d.test']);
  assert.equal(parseResolvConf('nameserver 10.0.0.1\n'.repeat(50)).servers.length, 8);
});

test('hosts: the first line of each family counts', () => {
  const hosts = parseHosts('10.0.0.1\tA.test a # x b\n10.0.0.2 a.test\n::1 a.test\nnonsense a.test\n10.0.0.3\n');
  assert.deepEqual(
    [...hosts],
    [
      ['a.test', { ipv4: '10.0.0.1', ipv6: '::1' }],
      ['a', { ipv4: '10.0.0.1', ipv6: null }],
    ],
  );
});

test('candidates of a name, with search suffixes', () => {
  const conf = { search: ['x.test', 'y.test'], ndots: 2 };
  assert.deepEqual(candidates('a', conf), ['a.x.test', 'a.y.test', 'a']);
  assert.deepEqual(candidates('a.b.c', conf), ['a.b.c', 'a.b.c.x.test', 'a.b.c.y.test']);
  assert.deepEqual(candidates('a.', conf), ['a']);
});
