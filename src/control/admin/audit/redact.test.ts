import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../../test/support/cpu-time.ts';
import { array, map } from '../../../shared/schema/collections.ts';
import { integer, type RecordSchema, string } from '../../../shared/schema/fields.ts';
import { record } from '../../../shared/schema/record.ts';
import { bounded, differenceOf } from './difference.ts';
import { redactFields } from './redact.ts';

const schema = record({
  name: string({ description: 'Name.' }),
  key: string({ encrypted: true, description: 'Key.' }),
  url: string({ description: 'URL.' }),
  pem: string({ description: 'PEM.' }),
  ttl: integer({ description: 'TTL.' }),
  secrets: array(string({ encrypted: true, description: 'Secret.' }), { description: 'Secrets.' }),
  headers: map(string({ description: 'Name.' }), string({ description: 'Value.' }), { description: 'Headers.' }),
  add: array(string({ description: 'Header.' }), { description: 'Added.' }),
  config: record({
    inner: record({ password: string({ encrypted: true, description: 'Password.' }) }),
    minute: integer({ description: 'Requests.' }),
  }),
}) as RecordSchema;

test('fields that the schema marks are masked at every depth; unset ones stay unset', () => {
  assert.deepEqual(
    redactFields(schema, {
      name: 'a',
      key: 'k1',
      secrets: ['k2', 'k3'],
      config: { inner: { password: 'k4' }, minute: 5, gone: { deep: 'k5' } },
      ttl: 3,
      expires_at: 17,
      unknown: 'k6',
      missing_token: 8,
    }),
    {
      name: 'a',
      key: 'REDACTED',
      secrets: ['REDACTED', 'REDACTED'],
      config: { inner: { password: 'REDACTED' }, minute: 5, gone: 'REDACTED' },
      ttl: 3,
      expires_at: 17,
      unknown: 'REDACTED',
      missing_token: 'REDACTED',
    },
  );
  assert.deepEqual(redactFields(schema, { key: null, config: null }), { key: null, config: null });
});

test('values that look like secrets are masked in free-form fields', () => {
  assert.deepEqual(
    redactFields(schema, {
      url: 'redis://ada:p@ss@h.test/0?x=1',
      pem: '-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----',
      headers: { Authorization: 'Bearer k', 'x-api-key': 'k', Accept: 'text/html' },
      add: ['Authorization: Basic k', 'X-Auth-Token:k', 'Accept:*/*'],
    }),
    {
      url: 'redis://REDACTED@h.test/0?x=1',
      pem: 'REDACTED',
      headers: { Authorization: 'REDACTED', 'x-api-key': 'REDACTED', Accept: 'text/html' },
      add: ['Authorization:REDACTED', 'X-Auth-Token:REDACTED', 'Accept:*/*'],
    },
  );
});

test('a difference contains only what differs, also within records', () => {
  const before = { a: 1, list: [1, 2], config: { x: 1, y: { z: 1, same: 2 } }, updated_at: 1, gone: true };
  const after = { a: 1, list: [1, 3], config: { x: 1, y: { z: 2, same: 2 } }, updated_at: 2, fresh: { q: 1 } };
  const difference = JSON.parse(JSON.stringify(differenceOf(before, after)));
  assert.deepEqual(difference, {
    before: { list: [1, 2], config: { y: { z: 1 } }, gone: true, fresh: null },
    after: { list: [1, 3], config: { y: { z: 2 } }, gone: null, fresh: { q: 1 } },
  });
});

test('a field with the name of an object member is only a field', () => {
  const hostile = JSON.parse('{"__proto__": {"polluted": 1}}') as Record<string, unknown>;
  const { after } = differenceOf({}, hostile);
  assert.equal(JSON.stringify(after), '{"__proto__":{"polluted":1}}');
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('the longest values are omitted first, and only as many as necessary', () => {
  const { before, after, truncated } = bounded({ a: 'x'.repeat(500), b: 'y'.repeat(40) }, { c: 'z'.repeat(90) }, 300);
  assert.equal(truncated, true);
  assert.deepEqual(before, { a: '502 bytes, left out', b: 'y'.repeat(40) });
  assert.deepEqual(after, { c: 'z'.repeat(90) });
});

test('compound names of secrets are recognised, also as arguments of URLs', () => {
  const names = ['clientSecret', 'accessToken', 'X-AuthToken', 'dbPassword', 'Ocp-Apim-Subscription-Key', 'X-Auth-Key'];
  const headers = Object.fromEntries(names.map((name) => [name, 's3cret']));
  const shown = redactFields(schema, {
    headers: { ...headers, 'max-tokens': '7', monkey: 'yes', author: 'ada' },
    url: 'https://h.test/in?x=1&api%6bey=s3cret&Access_Token=s3cret#token=s3cret',
    add: ['x:see http://h.test/?secret=s3cret', 'clientSecret=s3cret'],
  });
  assert.doesNotMatch(JSON.stringify(shown), /s3cret/);
  const { headers: told, url } = shown as { headers: Record<string, string>; url: string };
  assert.deepEqual([told['max-tokens'], told['monkey'], told['author']], ['7', 'yes', 'ada']);
  assert.equal(url, 'https://h.test/in?x=1&api%6bey=REDACTED&Access_Token=REDACTED#token=REDACTED');
});

test('long texts are scanned in linear time', () => {
  const start = cpuTime();
  for (const part of ['?a', 'a://', '&x=', '-_', 'api', 'key=']) {
    redactFields(schema, { url: `x://${part.repeat(200_000)}`, headers: { [part.repeat(200_000)]: 'x' } });
  }
  assert.ok(cpuTime() - start < 2000);
});

test('bodies in a configuration are scanned, too: forms and JSON', () => {
  const shown = redactFields(schema, {
    url: '{"grant": "x", "client_secret" : "s3\\"cret", "nested": {"apiKey":"s3cret"}, "password": 12345, "token": null}',
    pem: 'grant_type=x&client_secret=s3cret',
  });
  assert.deepEqual(shown, {
    url: '{"grant": "x", "client_secret" : "REDACTED", "nested": {"apiKey":"REDACTED"}, "password": "REDACTED", "token": null}',
    pem: 'grant_type=x&client_secret=REDACTED',
  });
  const long = redactFields(schema, { url: `{"token":"${'s3cret'.repeat(4_000_000)}"}` })['url'];
  assert.match(String(long), /^\{"token":"REDACTED" and \d+ characters more$/);
  const start = cpuTime();
  for (const part of ['"', '"a":"', '"a":"\\', '"a" ', '{"token":', '\\"', '"token":"\\"']) {
    redactFields(schema, { url: part.repeat(200_000) });
    redactFields(schema, { url: `"token":"${part.repeat(200_000)}` });
  }
  assert.ok(cpuTime() - start < 3000);
});

test('of a secret URL only scheme, host and port are recorded', () => {
  for (const [key, shown] of [
    [
      'https://user:s3cret@logs.example.org:8443/ingest/s3cret?token=s3cret#s3cret',
      'https://logs.example.org:8443/REDACTED',
    ],
    ['HTTP://logs.example.org', 'http://logs.example.org/REDACTED'],
    ['http://s3cret:s3cret', 'REDACTED'],
    ['http-s3cret', 'REDACTED'],
    ['ftp://logs.example.org/s3cret', 'REDACTED'],
  ]) {
    assert.deepEqual(redactFields(schema, { key }), { key: shown });
  }
});
