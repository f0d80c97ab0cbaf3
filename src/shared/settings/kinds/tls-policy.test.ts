import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PolicySettings, serverPolicy } from './tls-policy.ts';

const given: PolicySettings = {
  suite: 'intermediate',
  ciphers: null,
  protocols: ['TLSv1.2', 'TLSv1.3'],
  preferServerCiphers: true,
  sessionTickets: true,
  sessionTimeout: 1000,
};

test('has the suites by their names', () => {
  assert.equal(serverPolicy({ ...given, suite: 'modern' }).minVersion, 'TLSv1.3');
  const intermediate = serverPolicy(given);
  assert.equal(intermediate.minVersion, 'TLSv1.2');
  assert.match(intermediate.ciphers ?? '', /ECDHE-RSA-CHACHA20-POLY1305/);
  assert.doesNotMatch(intermediate.ciphers ?? '', /(?:^|:)AES128-SHA/);
  assert.doesNotMatch(serverPolicy({ ...given, suite: 'fips' }).ciphers ?? '', /CHACHA20/);
  assert.match(serverPolicy({ ...given, suite: 'old' }).ciphers ?? '', /:AES128-SHA:.*@SECLEVEL=0$/);
});

test('uses the configured ciphers and versions for custom only', () => {
  const own = { ...given, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256', protocols: ['TLSv1.2'] as const };
  const custom = serverPolicy({ ...own, suite: 'custom' });
  assert.deepEqual([custom.minVersion, custom.maxVersion, custom.ciphers], ['TLSv1.2', 'TLSv1.2', own.ciphers]);
  assert.equal(serverPolicy(own).maxVersion, 'TLSv1.3');
  const old = serverPolicy({ ...given, suite: 'custom', protocols: ['TLSv1.1', 'TLSv1.2'] });
  assert.match(old.ciphers ?? '', /@SECLEVEL=0$/);
});
