import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { hashSecret } from './hash-secret.ts';
import { clients, failure, provisionKey, Server, serviceId } from './oauth2.fixture.ts';

const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const challenge = hash('sha256', verifier, 'base64url');

function basic(id: string, secret: string): Readonly<Record<string, string>> {
  return { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

/** A token request without client credentials in the body. */
function bare(server: Server, fields: Readonly<Record<string, string>>, headers = {}) {
  return server.post('/oauth2/token', fields, { headers });
}

test('client credentials: a token without a refresh token', async () => {
  const server = new Server();
  const { status, fields, response } = await server.token({ grant_type: 'client_credentials', state: 's' });
  assert.equal(status, 200);
  const { access_token: token, ...rest } = fields;
  assert.match(token ?? '', /^[\w-]{32}$/);
  assert.deepEqual(rest, { token_type: 'bearer', expires_in: 7200, state: 's' });
  assert.equal(response.header('cache-control'), 'no-store');
  assert.equal(response.header('pragma'), 'no-cache');
  const { upstream } = await server.call(token ?? '');
  assert.equal(upstream?.header('x-consumer-username'), 'ada');
  assert.equal(upstream?.header('x-credential-identifier'), 'client-1');
  assert.equal(upstream?.header('x-authenticated-userid'), null);
});

test('client credentials: a user only with the provision key', async () => {
  const server = new Server();
  const ask = (fields: Readonly<Record<string, string>>) =>
    server.token({ grant_type: 'client_credentials', ...fields });
  assert.equal((await ask({ authenticated_userid: 'u' })).fields['error'], 'invalid_provision_key');
  assert.equal((await ask({ authenticated_userid: 'u', provision_key: 'x' })).fields['error'], 'invalid_provision_key');
  assert.equal((await ask({ provision_key: provisionKey })).fields['error'], 'invalid_authenticated_userid');
  const { fields } = await ask({ authenticated_userid: 'u', provision_key: provisionKey });
  assert.equal((await server.call(fields['access_token'] ?? '')).upstream?.header('x-authenticated-userid'), 'u');
});

test('a client that fails to authenticate gets no details of the error', async () => {
  const expected = failure('invalid_client', 'Invalid client authentication');
  const server = new Server();
  const grant_type = 'client_credentials';
  for (const fields of [
    {},
    { client_id: 'client-1' },
    { client_id: 'client-1', client_secret: '' },
    { client_id: 'client-1', client_secret: 'secret-2' },
    { client_id: 'client-1', client_secret: 'secret-1 ' },
    { client_id: 'nobody', client_secret: 'secret-1' },
    { client_id: 'x'.repeat(9999), client_secret: 'secret-1' },
    { client_secret: 'secret-1' },
  ]) {
    const { status, fields: answer, response } = await bare(server, { grant_type, ...fields });
    assert.deepEqual([status, answer], [400, expected], JSON.stringify(fields));
    assert.equal(response.header('www-authenticate'), null);
  }
  for (const headers of [
    basic('client-1', 'secret-2'),
    basic('client-1', ''),
    basic('nobody', 'secret-1'),
    { Authorization: 'Basic !' },
    { Authorization: 'Basic' },
    { Authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
    { Authorization: `Basic ${'A'.repeat(20_000)}` },
  ]) {
    const { status, fields: answer, response } = await bare(server, { grant_type }, headers);
    assert.deepEqual([status, answer], [401, expected], headers.Authorization?.slice(0, 40));
    assert.equal(response.header('www-authenticate'), 'Basic realm="OAuth2.0"');
  }
});

test('a client may authenticate in the header, form-encoded or not', async () => {
  const special = { ...clients.app, client_id: 'my app', client_secret: 'a+b%c d' };
  const server = new Server({}, { entities: { oauth2_credentials: [special] } });
  const grant_type = 'client_credentials';
  assert.equal((await bare(server, { grant_type }, basic('my app', 'a+b%c d'))).status, 200);
  assert.equal((await bare(server, { grant_type }, basic('my+app', 'a%2Bb%25c+d'))).status, 200);
  assert.equal((await bare(server, { grant_type, client_id: 'my app' }, basic('my app', 'a+b%c d'))).status, 200);
});

test('two authentication methods, or two clients, are refused', async () => {
  const server = new Server();
  const grant_type = 'client_credentials';
  const headers = basic('client-1', 'secret-1');
  assert.equal((await bare(server, { grant_type, client_id: 'client-2' }, headers)).status, 401);
  const both = { grant_type, client_id: 'client-1', client_secret: 'secret-1' };
  assert.equal((await bare(server, both, headers)).status, 401);
});

test('parameters may be JSON', async () => {
  const body = JSON.stringify({ grant_type: 'client_credentials', client_id: 'client-1', client_secret: 'secret-1' });
  const headers = { 'Content-Type': 'application/json' };
  assert.equal((await new Server().post('/oauth2/token', {}, { body, headers })).status, 200);
});

test('a lone surrogate in JSON is refused', async () => {
  const headers = { 'Content-Type': 'application/json' };
  const client = '"client_id":"client-1","client_secret":"secret-1","grant_type":"client_credentials"';
  const server = new Server();
  for (const more of ['"state":"\\ud800"', '"scope":"\\udc00x"']) {
    const { status, fields } = await server.post('/oauth2/token', {}, { body: `{${client},${more}}`, headers });
    assert.deepEqual([status, fields['error']], [400, 'invalid_request']);
  }
  const user = `"provision_key":"${provisionKey}","authenticated_userid":"\\ud800","response_type":"code"`;
  const { status } = await server.post('/oauth2/authorize', {}, { body: `{${client},${user}}`, headers });
  assert.equal(status, 400);
});

test('an unknown or disabled grant is refused', async () => {
  for (const [config, grant_type] of [
    [{}, ''],
    [{}, 'magic'],
    [{ enable_client_credentials: false }, 'client_credentials'],
    [{ enable_password_grant: false }, 'password'],
    [{ enable_authorization_code: false }, 'authorization_code'],
  ] as const) {
    const { status, fields } = await new Server(config).token({ grant_type });
    assert.deepEqual([status, fields], [400, failure('unsupported_grant_type', 'Invalid grant_type')]);
  }
});

test('public clients have no secret and no client credentials grant', async () => {
  const server = new Server();
  const client_id = clients.phone.client_id;
  const secret = await bare(server, { grant_type: 'refresh_token', client_id, client_secret: 'secret-3' });
  assert.deepEqual(secret.fields, failure('invalid_request', 'client_secret is disallowed for public clients'));
  const own = await bare(server, { grant_type: 'client_credentials', client_id });
  assert.equal(own.fields['error'], 'unauthorized_client');
});

test('password: the provision key proves the user, and there is a refresh token', async () => {
  const server = new Server({ scopes: ['read'] });
  const grant = { grant_type: 'password', scope: 'read' };
  assert.equal((await server.token(grant)).fields['error'], 'invalid_provision_key');
  assert.equal(
    (await server.token({ ...grant, provision_key: provisionKey })).fields['error'],
    'invalid_authenticated_userid',
  );
  const proven = { ...grant, provision_key: provisionKey, authenticated_userid: 'user-7' };
  const { status, fields } = await server.token(proven);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(fields).sort(), ['access_token', 'expires_in', 'refresh_token', 'token_type']);
  assert.equal((await server.token({ ...proven, scope: 'x' })).fields['error_description'], '"x" is an invalid scope');
});

test('code: tokens for the user and scope of the code', async () => {
  const server = new Server({ scopes: ['read', 'write'] });
  const code = await server.code({ scope: 'read' });
  const { fields } = await server.token({ grant_type: 'authorization_code', code, scope: 'write', state: 's' });
  assert.deepEqual(Object.keys(fields).sort(), ['access_token', 'expires_in', 'refresh_token', 'state', 'token_type']);
  const { upstream } = await server.call(fields['access_token'] ?? '');
  assert.equal(upstream?.header('x-authenticated-userid'), 'user-7');
  assert.equal(upstream?.header('x-authenticated-scope'), 'read');
});

test('code: refused if unknown, of another client, expired, or for another redirection', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 });
  const server = new Server();
  const expected = failure('invalid_request', 'Invalid code');
  const grant_type = 'authorization_code';
  for (const fields of [{}, { code: '' }, { code: 'unknown' }, { code: 'x'.repeat(9999) }]) {
    assert.deepEqual((await server.token({ grant_type, ...fields })).fields, expected);
  }
  const stolen = { client_id: clients.rival.client_id, client_secret: clients.rival.client_secret };
  const code = await server.code();
  assert.deepEqual((await server.token({ grant_type, code, ...stolen })).fields, expected);
  const elsewhere = await server.token({ grant_type, code, redirect_uri: 'https://app.example/other?x=1' });
  assert.match(elsewhere.fields['error_description'] ?? '', /^Invalid redirect_uri/);
  t.mock.timers.tick(299_000);
  assert.equal((await server.token({ grant_type, code, redirect_uri: 'https://app.example/back' })).status, 200);
  const late = await server.code();
  t.mock.timers.tick(300_000);
  assert.deepEqual((await server.token({ grant_type, code: late })).fields, expected);
});

test('code: of another plugin instance or service is refused', async () => {
  for (const field of ['plugin', 'service']) {
    const server = new Server();
    const code = await server.code();
    const row = await server.test.entities.find('oauth2_authorization_codes', 'code', code);
    await server.test.entities.update('oauth2_authorization_codes', row?.id ?? '', { [field]: { id: clients.app.id } });
    const { fields } = await server.token({ grant_type: 'authorization_code', code });
    assert.deepEqual(fields, failure('invalid_request', 'Invalid code'), field);
  }
});

test('code: a redirection URI that the authorization request named is required, and must be identical', async () => {
  const redirect_uri = 'https://app.example/other?x=1';
  const server = new Server();
  const code = await server.code({ redirect_uri });
  const grant = { grant_type: 'authorization_code', code };
  for (const fields of [
    {},
    { redirect_uri: '' },
    { redirect_uri: 'https://app.example/back' },
    { redirect_uri: `${redirect_uri}&y=2` },
    { redirect_uri: redirect_uri.toUpperCase() },
  ]) {
    const answer = await server.token({ ...grant, ...fields });
    assert.equal(answer.status, 400, JSON.stringify(fields));
    assert.match(answer.fields['error_description'] ?? '', /^Invalid redirect_uri/);
  }
  assert.equal((await server.token({ ...grant, redirect_uri })).status, 200);
});

const stranger = { client_id: clients.rival.client_id, client_secret: clients.rival.client_secret };

/** Asserts that every token of these responses is refused. */
async function assertRevoked(server: Server, ...tokens: readonly Readonly<Record<string, string>>[]): Promise<void> {
  for (const { access_token = '', refresh_token = '' } of tokens) {
    assert.equal(await server.works(access_token), false);
    assert.equal((await server.token({ grant_type: 'refresh_token', refresh_token })).status, 400);
  }
  assert.deepEqual(await server.test.entities.list('oauth2_tokens', 'credential', clients.app.id), []);
}

test('code: a second use revokes all tokens issued for it', async () => {
  for (const slow of [false, true]) {
    const server = new Server({}, { slow });
    const code = await server.code();
    const grant = { grant_type: 'authorization_code', code };
    const { fields: first } = await server.token(grant);
    const { fields: second } = await server.refresh(first);
    const { fields: third } = await server.refresh(second);
    assert.equal((await server.token({ ...grant, ...stranger })).status, 400);
    assert.ok(await server.works(third['access_token'] ?? ''), 'another client cannot revoke them');
    assert.deepEqual((await server.token(grant)).fields, failure('invalid_request', 'Invalid code'));
    await assertRevoked(server, first, second, third);
    assert.equal((await server.token(grant)).status, 400, 'nor does the code serve again');
  }
});

test('code: a second use revokes the tokens of a public client, without the PKCE verifier too', async () => {
  const client_id = clients.phone.client_id;
  for (const verifying of [{ code_verifier: verifier }, {}, { code_verifier: `${verifier}x` }]) {
    const server = new Server();
    const code = await server.code({ client_id, code_challenge: challenge, code_challenge_method: 'S256' });
    const grant = { grant_type: 'authorization_code', code, client_id };
    const { fields } = await bare(server, { ...grant, code_verifier: verifier });
    const refreshed = await bare(server, {
      grant_type: 'refresh_token',
      client_id,
      refresh_token: fields['refresh_token'] ?? '',
    });
    assert.equal(refreshed.status, 200);
    assert.equal((await bare(server, { ...grant, ...verifying })).status, 400);
    assert.equal(await server.works(refreshed.fields['access_token'] ?? ''), false);
    assert.deepEqual(await server.test.entities.list('oauth2_tokens', 'credential', clients.phone.id), []);
  }
});

test('code: a second use does not touch another authorization of the same client and user', async () => {
  const server = new Server();
  const other = await server.tokens();
  const code = await server.code();
  const grant = { grant_type: 'authorization_code', code };
  await server.token(grant);
  await server.token(grant);
  assert.ok(await server.works(other['access_token'] ?? ''));
  assert.equal((await server.refresh(other)).status, 200);
});

test('code: of 50 concurrent uses at most one gets tokens, which the others revoke', async () => {
  for (const slow of [false, true]) {
    const server = new Server({}, { slow });
    const code = await server.code();
    const uses = Array.from({ length: 50 }, () => server.token({ grant_type: 'authorization_code', code }));
    const answers = await Promise.all(uses);
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1);
    for (const { status, fields } of answers) {
      if (status !== 200) assert.deepEqual(fields, failure('invalid_request', 'Invalid code'));
    }
    await assertRevoked(server);
  }
});

test('refresh: a second use of any earlier token revokes the whole family', async () => {
  for (const place of [0, 1, 2]) {
    const server = new Server();
    const family = [await server.tokens()];
    for (let at = 0; at < 3; at++) family.push((await server.refresh(family[at]!)).fields);
    const { refresh_token = '' } = family[place]!;
    const grant = { grant_type: 'refresh_token', refresh_token };
    assert.equal((await server.token({ ...grant, ...stranger })).status, 400);
    assert.ok(await server.works(family[3]!['access_token'] ?? ''), 'another client cannot revoke it');
    assert.deepEqual((await server.token(grant)).fields, failure('invalid_request', 'Invalid refresh_token'));
    await assertRevoked(server, ...family);
  }
});

test('refresh: tokens of the password grant are a token family, too', async () => {
  const server = new Server();
  const grant = { grant_type: 'password', provision_key: provisionKey, authenticated_userid: 'user-7' };
  const { fields: first } = await server.token(grant);
  const { fields: second } = await server.refresh(first);
  assert.equal((await server.refresh(first)).status, 400);
  await assertRevoked(server, first, second);
});

test('refresh: a token without a family, from an earlier version or the Admin API, gets one', async () => {
  const server = new Server();
  const row = {
    credential: { id: clients.app.id },
    service: { id: serviceId },
    token_type: 'bearer',
    access_token: 'old-access-token',
    expires_in: 7200,
    ttl: 7200,
  };
  await server.test.entities.insert('oauth2_tokens', { ...row, refresh_token: 'old-refresh-token' });
  const old = { refresh_token: 'old-refresh-token', access_token: 'old-access-token' };
  const { status, fields: second } = await server.refresh(old);
  assert.equal(status, 200);
  assert.ok(await server.works(second['access_token'] ?? ''));
  assert.equal((await server.refresh(old)).status, 400);
  await assertRevoked(server, second);
});

/** The plugin instance under test. */
async function instanceOf(server: Server): Promise<unknown> {
  const row = await server.test.entities.find('oauth2_authorization_codes', 'code', await server.code());
  return row?.['plugin'];
}

test('code: a code of an earlier version can be used once', async () => {
  const server = new Server();
  const row = {
    credential: { id: clients.app.id },
    service: { id: serviceId },
    plugin: await instanceOf(server),
    ttl: 300,
  };
  await server.test.entities.insert('oauth2_authorization_codes', { ...row, code: 'old-code' });
  const grant = { grant_type: 'authorization_code', code: 'old-code' };
  assert.equal((await server.token(grant)).status, 200);
  assert.equal((await server.token(grant)).status, 400);
  const [used] = await server.test.entities.list('oauth2_tokens', 'credential', clients.app.id);
  await server.test.entities.insert('oauth2_authorization_codes', { ...row, code: 'used-code', token_id: used?.id });
  assert.equal((await server.token({ grant_type: 'authorization_code', code: 'used-code' })).status, 400);
  assert.equal(await server.works(String(used?.['access_token'])), false);
});

test('no token is issued for a family that is revoked meanwhile', async () => {
  const server = new Server();
  const tokens = await server.tokens();
  const { entities } = server.test;
  const insert = entities.insert.bind(entities);
  entities.insert = async (name, fields) => {
    const family = fields['family'] as { readonly id: string };
    await entities.delete('oauth2_families', family.id);
    return insert(name, fields);
  };
  assert.deepEqual((await server.refresh(tokens)).fields, failure('invalid_request', 'Invalid refresh_token'));
  await assertRevoked(server, tokens);
});

test('PKCE: the verifier must be that of the challenge, and a wrong one does not invalidate the code', async () => {
  const server = new Server();
  const client_id = clients.phone.client_id;
  for (const [method, challenged] of [
    ['S256', challenge],
    ['plain', verifier],
  ] as const) {
    const code = await server.code({ client_id, code_challenge: challenged, code_challenge_method: method });
    const grant = { grant_type: 'authorization_code', code, client_id };
    const missing = await bare(server, grant);
    const text = 'code_verifier is required for PKCE authorization requests';
    assert.deepEqual(missing.fields, failure('invalid_request', text));
    for (const wrong of [
      verifier.replace('d', 'e'),
      challenge.replace('E', 'F'),
      'short',
      `${verifier}x`,
      'x'.repeat(129),
    ]) {
      const { fields } = await bare(server, { ...grant, code_verifier: wrong });
      assert.deepEqual(fields, failure('invalid_grant', 'Invalid code'));
    }
    assert.equal((await bare(server, { ...grant, code_verifier: verifier })).status, 200);
  }
});

test('PKCE: with S256 the challenge itself is not a verifier', async () => {
  const server = new Server();
  const code = await server.code({ code_challenge: challenge, code_challenge_method: 'S256' });
  const { fields } = await server.token({ grant_type: 'authorization_code', code, code_verifier: challenge });
  assert.equal(fields['error'], 'invalid_grant');
});

test('PKCE: a verifier for a code without a challenge is a sign of a downgrade', async () => {
  const server = new Server();
  const code = await server.code();
  const { fields } = await server.token({ grant_type: 'authorization_code', code, code_verifier: verifier });
  assert.equal(fields['error'], 'invalid_grant');
});

test('refresh: new tokens; the old ones become invalid', async () => {
  const server = new Server({ scopes: ['read', 'write'] });
  const first = await server.tokens({ scope: 'read write' });
  const grant = { grant_type: 'refresh_token', refresh_token: first['refresh_token'] ?? '' };
  const { status, fields } = await server.token({ ...grant, state: 's' });
  assert.equal(status, 200);
  assert.notEqual(fields['access_token'], first['access_token']);
  assert.notEqual(fields['refresh_token'], first['refresh_token']);
  assert.equal(fields['state'], 's');
  assert.equal(await server.works(first['access_token'] ?? ''), false);
  const { upstream } = await server.call(fields['access_token'] ?? '');
  assert.equal(upstream?.header('x-authenticated-userid'), 'user-7');
  assert.equal(upstream?.header('x-authenticated-scope'), 'read write');
  assert.deepEqual((await server.token(grant)).fields, failure('invalid_request', 'Invalid refresh_token'));
});

test('refresh: the scope can be narrowed, never widened', async () => {
  const server = new Server({ scopes: ['read', 'write', 'admin'] });
  const first = await server.tokens({ scope: 'read write' });
  const grant = { grant_type: 'refresh_token', refresh_token: first['refresh_token'] ?? '' };
  const wider = await server.token({ ...grant, scope: 'read admin' });
  assert.deepEqual(wider.fields, failure('invalid_scope', 'Scope mismatch'));
  const { fields } = await server.token({ ...grant, scope: 'read' });
  assert.equal((await server.call(fields['access_token'] ?? '')).upstream?.header('x-authenticated-scope'), 'read');
});

test('refresh: a token of another client, an access token, and an unknown one are refused', async () => {
  const server = new Server();
  const tokens = await server.tokens();
  const grant_type = 'refresh_token';
  const stranger = { client_id: clients.rival.client_id, client_secret: clients.rival.client_secret };
  const stolen = await server.token({ grant_type, refresh_token: tokens['refresh_token'] ?? '', ...stranger });
  assert.deepEqual(stolen.fields, failure('invalid_client', 'Invalid client authentication'));
  for (const refresh_token of ['', 'unknown', 'x'.repeat(9999), tokens['access_token'] ?? '']) {
    const { fields } = await server.token({ grant_type, refresh_token });
    assert.deepEqual(fields, failure('invalid_request', 'Invalid refresh_token'));
  }
});

test('refresh: of 50 concurrent uses at most one gets tokens, which the others revoke', async () => {
  for (const slow of [false, true]) {
    const server = new Server({}, { slow });
    const { refresh_token = '' } = await server.tokens();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => server.token({ grant_type: 'refresh_token', refresh_token })),
    );
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1);
    await assertRevoked(server);
  }
});

test('refresh: a reusable token stays valid, and the access token changes', async () => {
  const server = new Server({ reuse_refresh_token: true });
  const first = await server.tokens();
  const grant = { grant_type: 'refresh_token', refresh_token: first['refresh_token'] ?? '' };
  for (let round = 0; round < 2; round += 1) {
    const { status, fields } = await server.token(grant);
    assert.equal(status, 200);
    assert.equal(fields['refresh_token'], first['refresh_token']);
    assert.notEqual(fields['access_token'], first['access_token']);
  }
  assert.equal(await server.works(first['access_token'] ?? ''), false);
});

test('tokens that do not expire come without a refresh token', async () => {
  const brief = await new Server({ token_expiration: 0.5 }).tokens();
  assert.equal(brief['expires_in'], 1, 'a part of a second is not for ever');
  const tokens = await new Server({ token_expiration: 0 }).tokens();
  assert.deepEqual(Object.keys(tokens).sort(), ['access_token', 'token_type']);
});

test('tokens are bound to the service unless they are global', async () => {
  for (const [global_credentials, service] of [
    [false, { id: serviceId }],
    [true, null],
  ] as const) {
    const server = new Server({ global_credentials });
    await server.tokens();
    const [row] = await server.test.entities.list('oauth2_tokens', 'credential', clients.app.id);
    assert.deepEqual(row?.['service'], service);
  }
});

test('hashed secrets, also those of Kong, are checked; a wrong one is refused each time', async () => {
  // PBKDF2-SHA512 of `secret-1` with 1,000 rounds.
  const { pbkdf2Sync } = await import('node:crypto');
  const salt = Buffer.from('0123456789abcdef');
  const b64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  const kong = `$pbkdf2-sha512$i=1000,l=32$${b64(salt)}$${b64(pbkdf2Sync('secret-1', salt, 1000, 32, 'sha512'))}`;
  for (const client_secret of [await hashSecret('secret-1'), kong]) {
    const entities = { oauth2_credentials: [{ ...clients.app, client_secret, hash_secret: true }] };
    const server = new Server({}, { entities });
    const grant = { grant_type: 'client_credentials' };
    for (const wrong of ['secret-2', 'secret-2', client_secret, 'secret-3']) {
      assert.equal((await server.token({ ...grant, client_secret: wrong })).fields['error'], 'invalid_client');
    }
    for (let use = 0; use < 2; use += 1) assert.equal((await server.token(grant)).status, 200);
    await server.test.entities.update('oauth2_credentials', clients.app.id, { client_secret: await hashSecret('new') });
    assert.equal((await server.token(grant)).status, 400, 'a changed credential forgets what was verified');
  }
});

test('a flood of wrong secrets is limited, and does not block the event loop', async () => {
  const entities = { oauth2_credentials: [{ ...clients.app, client_secret: await hashSecret('secret-1') }] };
  const server = new Server({}, { entities });
  await server.token({ grant_type: 'client_credentials' });
  let longest = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const grant = { grant_type: 'client_credentials' };
  const begun = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) => server.token({ ...grant, client_secret: `wrong-${at}` })),
  );
  clearInterval(watch);
  const took = performance.now() - begun;
  const counted = (status: number) => answers.filter((answer) => answer.status === status).length;
  assert.equal(counted(503) + counted(400), 100);
  // Two are checked at a time and 32 of one client wait; on a busy machine some are done before the last one arrives.
  // On an overloaded one some wait for ten seconds, after which they are refused too.
  assert.ok(counted(503) > 0 && (counted(503) <= 100 - 34 || took > 10_000), String(counted(503)));
  assert.ok(longest < 1000, String(longest));
  assert.equal(answers.find(({ status }) => status === 503)?.response.header('retry-after'), '1');
});

test('a client that guesses secrets, from many addresses, does not delay others', async () => {
  const client_secret = await hashSecret('secret-1');
  const server = new Server({}, { entities: { oauth2_credentials: [{ ...clients.app, client_secret }] } });
  const grant = { grant_type: 'client_credentials' };
  const guesses = Array.from({ length: 80 }, (_, at) =>
    server.token({ ...grant, client_secret: `wrong-${at}` }, { clientIp: `2001:db8::${at.toString(16)}` }),
  );
  assert.equal((await server.token(grant, { clientIp: '192.0.2.1' })).status, 200);
  assert.ok((await Promise.all(guesses)).some(({ status }) => status === 503));
});
