import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskedUrl } from './masked-url.ts';

test('segments that are secrets are replaced, however they are written', () => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['/key-auths/s3cret', ['s3cret'], '/key-auths/REDACTED'],
    ['/default/consumers/ada/key-auth/s3cret/?x=1', ['s3cret'], '/default/consumers/ada/key-auth/REDACTED/?x=1'],
    ['/key-auths/%733cret/consumer', ['s3cret'], '/key-auths/REDACTED/consumer'],
    ['/key-auths/s3cret#x', ['s3cret'], '/key-auths/REDACTED#x'],
    ['/key-auths/s3cret#/x?y', ['s3cret'], '/key-auths/REDACTED#/x?y'],
    ['/key-auths/s%2F3', ['s/3'], '/key-auths/REDACTED'],
    ['/key-auths/7f6b8c1e-0000-4000-8000-000000000001', ['7f6b8c1e-0000-4000-8000-000000000001'], ''],
    ['/key-auths', [''], ''],
  ];
  for (const [url, secrets, masked] of cases) assert.equal(maskedUrl(url, secrets), masked === '' ? url : masked);
});
