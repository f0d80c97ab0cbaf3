import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showsToken } from './bearer-token.ts';

test('the token is accepted as a bearer token and in the header of Kong', () => {
  assert.equal(showsToken({ authorization: 'Bearer s3cret' }, 's3cret'), true);
  assert.equal(showsToken({ authorization: 'bearer  s3cret' }, 's3cret'), true);
  assert.equal(showsToken({ 'kong-admin-token': 's3cret' }, 's3cret'), true);
});

test('anything else is refused', () => {
  const attempts = [
    {},
    { authorization: 'Bearer' },
    { authorization: 'Bearer s3cre' },
    { authorization: 'Bearer s3cret2' },
    { authorization: 'Basic s3cret' },
    { authorization: 's3cret' },
    { 'kong-admin-token': '' },
    { 'kong-admin-token': 'S3CRET' },
  ];
  for (const headers of attempts) assert.equal(showsToken(headers, 's3cret'), false, JSON.stringify(headers));
});
