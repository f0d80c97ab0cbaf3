import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TrustedPeers } from './trusted-peers.ts';

const trusted = new TrustedPeers(['10.0.0.0/8', '::1']);

const cases: readonly (readonly [hops: string, recursive: boolean, client: string])[] = [
  ['203.0.113.1,10.0.0.1', true, '203.0.113.1'],
  ['203.0.113.1,10.0.0.1', false, '10.0.0.1'],
  ['198.51.100.1,203.0.113.1,10.0.0.1', true, '203.0.113.1'],
  ['10.0.0.2,10.0.0.1', true, '10.0.0.2'],
  ['203.0.113.1,unknown,10.0.0.1', true, '10.0.0.1'],
  ['unknown', true, 'peer'],
  ['', false, 'peer'],
];
for (const [hops, recursive, client] of cases) {
  test(`the client of '${hops}' is ${client}${recursive ? ', trusted hops skipped' : ''}`, () => {
    assert.equal(trusted.clientOf(hops.split(','), 'peer', recursive), client);
  });
}

test('ten proxies in a row are skipped, thousands of hops are not read', () => {
  const client = (proxies: number): string =>
    trusted.clientOf(['203.0.113.1', ...new Array<string>(proxies).fill('::1')], 'peer', true);
  assert.equal(client(10), '203.0.113.1');
  assert.equal(client(10_000), '::1');
});
