import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsSettings } from './settings.ts';
import { loadSettings } from './sources/load.ts';

function dns(env: Readonly<Record<string, string>>): DnsSettings {
  return loadSettings({ env, cwd: '/nonexistent' }).settings.dns;
}

test("without settings names are resolved as with Kong's defaults", () => {
  assert.deepEqual(dns({}), {
    servers: [],
    hostsFile: '/etc/hosts',
    order: ['LAST', 'SRV', 'A', 'CNAME'],
    validTtl: null,
    staleTtl: 3_600_000,
    notFoundTtl: 30_000,
    errorTtl: 1_000,
    cacheSize: 10_000,
    noSync: false,
  });
});

test('name servers have a port or none, IPv6 in brackets or bare', () => {
  assert.deepEqual(dns({ KONG_DNS_RESOLVER: '10.0.0.2, 10.0.0.3:5353,[2001:db8::1]:54,2001:db8::2,[::1]' }).servers, [
    { ip: '10.0.0.2', port: 53 },
    { ip: '10.0.0.3', port: 5353 },
    { ip: '2001:db8::1', port: 54 },
    { ip: '2001:db8::2', port: 53 },
    { ip: '::1', port: 53 },
  ]);
});

for (const wrong of ['dns.test', '10.0.0.2:0', '10.0.0.2:65536', '10.0.0.2:x', '[10.0.0.2]:53', '10.0.0.2:53:53']) {
  test(`${wrong} is no name server`, () => {
    assert.throws(
      () => dns({ KONG_DNS_RESOLVER: wrong }),
      /dns_resolver must be a comma separated list .*IPv4\/6:port/,
    );
  });
}

test('the order of types is case-insensitive, each type once', () => {
  assert.deepEqual(dns({ KONG_DNS_ORDER: 'last,aaaa,A,a' }).order, ['LAST', 'AAAA', 'A']);
});

test('an unknown type, or none, is rejected', () => {
  assert.throws(() => dns({ KONG_DNS_ORDER: 'A,MX' }), /dns_order: invalid entry 'MX'/);
  assert.throws(() => dns({ KONG_DNS_ORDER: 'LAST' }), /dns_order names no type of record/);
});

test('times are seconds, or carry their unit', () => {
  const found = dns({ KONG_DNS_VALID_TTL: '0', KONG_DNS_STALE_TTL: '2m', KONG_DNS_ERROR_TTL: '500ms' });
  assert.deepEqual([found.validTtl, found.staleTtl, found.errorTtl], [0, 120_000, 500]);
});

test('the settings of the new client apply only when it is on', () => {
  const env = { KONG_RESOLVER_ADDRESS: '10.0.0.9', KONG_RESOLVER_ERROR_TTL: '7', KONG_DNS_RESOLVER: '10.0.0.8' };
  assert.deepEqual(dns(env).servers, [{ ip: '10.0.0.8', port: 53 }]);
  const found = dns({ ...env, KONG_NEW_DNS_CLIENT: 'on' });
  assert.deepEqual(found.servers, [{ ip: '10.0.0.9', port: 53 }]);
  assert.deepEqual(found.order, ['A', 'SRV']);
  assert.deepEqual([found.notFoundTtl, found.errorTtl], [7_000, 7_000]);
});
