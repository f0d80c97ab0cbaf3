import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import { entities } from './entities.ts';
import { hashSecret, isHashed, matchesHash } from './hash-secret.ts';
import oauth2 from './index.ts';

const credentials = entities[0]!;

test('the defaults are those of Kong', async () => {
  const checked = await testPlugin(oauth2).check({ enable_client_credentials: true, provision_key: 'k' });
  assert.deepEqual(checked, {
    ok: true,
    config: {
      scopes: null,
      mandatory_scope: false,
      provision_key: 'k',
      token_expiration: 7200,
      enable_authorization_code: false,
      enable_implicit_grant: false,
      enable_client_credentials: true,
      enable_password_grant: false,
      hide_credentials: false,
      accept_http_if_already_terminated: false,
      anonymous: null,
      global_credentials: false,
      auth_header_name: 'authorization',
      refresh_token_ttl: 1209600,
      reuse_refresh_token: false,
      pkce: 'lax',
      realm: null,
    },
  });
});

test('at least one grant must be enabled', async () => {
  assert.deepEqual(await testPlugin(oauth2).check({}), {
    ok: false,
    message:
      'schema violation (config: at least one of these fields must be true: enable_authorization_code, ' +
      'enable_implicit_grant, enable_client_credentials, enable_password_grant)',
  });
});

test('mandatory scopes need scopes', async () => {
  const checked = await testPlugin(oauth2).check({ enable_implicit_grant: true, mandatory_scope: true });
  assert.ok(!checked.ok);
  assert.match(checked.message, /config\.scopes: required field missing/);
});

test('with hash_secret, the secret is shown once and stored as a hash, which is not hashed again', async () => {
  const row = { id: '1', created_at: 1, name: 'app', hash_secret: true, client_secret: 'open' };
  const context = { hashKeys: false, given: {}, before: null };
  const { stored, shown } = await credentials.conceal!(row, context);
  const hashed = String(stored['client_secret']);
  assert.ok(isHashed(hashed) && !hashed.includes('open'));
  assert.deepEqual(shown, { client_secret: 'open' });
  assert.deepEqual(await credentials.conceal!(stored, { ...context, before: stored }), { stored, shown: {} });
  const plain = { ...row, hash_secret: false };
  assert.deepEqual(await credentials.conceal!(plain, context), { stored: plain, shown: {} });
});

test('hashes match only their secret, and differ each time', async () => {
  const [first, second] = [await hashSecret('secret'), await hashSecret('secret')];
  assert.notEqual(first, second);
  assert.ok(await matchesHash(first, 'secret'));
  for (const wrong of ['Secret', 'secret ', '', first]) assert.equal(await matchesHash(first, wrong), false);
});

test('a text that is not a hash, or is too expensive, is not treated as one', async () => {
  const salt = 'c2FsdHNhbHQ';
  const hash = 'aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g';
  for (const text of [
    '',
    'secret',
    '$scrypt$',
    `$scrypt$ln=30,r=8,p=1$${salt}$${hash}`,
    `$scrypt$ln=14,r=99,p=1$${salt}$${hash}`,
    `$scrypt$r=8,p=1$${salt}$${hash}`,
    `$pbkdf2-sha512$i=999999999,l=32$${salt}$${hash}`,
    `$pbkdf2-sha512$i=-1,l=32$${salt}$${hash}`,
    `$md5$i=1000,l=32$${salt}$${hash}`,
  ]) {
    assert.equal(isHashed(text), false, text);
    assert.equal(await matchesHash(text, 'secret'), false);
  }
});
