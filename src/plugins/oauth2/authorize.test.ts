import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clients, failure, redirected, Server } from './oauth2.fixture.ts';

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

test('a login page receives the URI to redirect to, with a code and the state', async () => {
  const { status, fields, response } = await new Server().authorize({ state: 'a b&c=d' });
  assert.equal(status, 200);
  assert.match(fields['redirect_uri'] ?? '', /^https:\/\/app\.example\/back\?code=[\w-]{54}&state=a%20b%26c%3Dd$/);
  assert.equal(response.header('cache-control'), 'no-store');
  assert.equal(response.header('pragma'), 'no-cache');
  assert.equal(response.header('content-type'), 'application/json; charset=utf-8');
});

test('any path that ends with the name is the endpoint, with or without a slash', async () => {
  const server = new Server();
  for (const path of ['/oauth2/authorize/', '/deep/below/oauth2/authorize', '/./x/../oauth2/authorize']) {
    assert.equal((await server.post(path, {})).status, 400, path);
  }
  for (const path of ['/oauth2/authorize/x', '/oauth2/authorized', '/OAuth2/authorize', '/oauth2/tokens']) {
    assert.equal((await server.call(null, { method: 'POST', path })).response.status, 401, path);
  }
});

test('parameters may be in the query; those of the body take precedence', async () => {
  const server = new Server();
  const query = 'response_type=code&client_id=client-2&authenticated_userid=user-7&provision_key=the-provision-key';
  const { fields } = await server.post(`/oauth2/authorize?${query}`, {});
  assert.match(fields['redirect_uri'] ?? '', /^https:\/\/rival\.example\/\?code=/);
  const both = await server.post(`/oauth2/authorize?${query}`, { client_id: 'client-1' });
  assert.match(both.fields['redirect_uri'] ?? '', /^https:\/\/app\.example\//);
});

test('a duplicate parameter is refused', async () => {
  const { status, fields } = await new Server().authorize({}, { body: 'client_id=client-1&client_id=client-2' });
  assert.deepEqual(
    [status, fields],
    [400, failure('invalid_request', 'A parameter is given more than once or is malformed')],
  );
});

test('only the login page may name the user', async () => {
  const server = new Server();
  for (const provision_key of ['', 'wrong', 'the-provision-key2', 'the-provision-ke']) {
    const { status, fields } = await server.authorize({ provision_key, state: 's' });
    assert.deepEqual(
      [status, fields],
      [400, { ...failure('invalid_provision_key', 'Invalid provision_key'), state: 's' }],
    );
  }
});

test('a user is required, without characters that a header cannot contain', async () => {
  for (const authenticated_userid of ['', ' ', 'a\r\nX-Consumer-Id: b', 'a\0']) {
    const { status, fields } = await new Server().authorize({ authenticated_userid });
    const expected = failure('invalid_authenticated_userid', 'Missing authenticated_userid parameter');
    assert.deepEqual([status, fields], [400, expected]);
  }
});

test('an unknown client gets an error without a redirection', async () => {
  for (const client_id of ['', 'nobody']) {
    const { status, fields } = await new Server().authorize({ client_id });
    assert.deepEqual([status, fields], [400, failure('invalid_client', 'Invalid client authentication')]);
  }
});

test('the redirection URI must be identical to one of the client', async () => {
  const server = new Server();
  const good = await server.authorize({ redirect_uri: 'https://app.example/other?x=1' });
  assert.match(good.fields['redirect_uri'] ?? '', /^https:\/\/app\.example\/other\?x=1&code=/);
  for (const redirect_uri of [
    'https://app.example/back/',
    'https://app.example/back?x',
    'https://app.example/BACK',
    'https://app.example.evil.example/back',
    'https://rival.example/',
    'https://app.example/back/../x',
  ]) {
    const answer = await server.authorize({ redirect_uri });
    assert.equal(answer.status, 400);
    const { origin, pathname } = new URL(answer.fields['redirect_uri'] ?? '');
    assert.equal(origin + pathname, 'https://app.example/back');
    assert.equal(redirected(answer).get('error'), 'invalid_request');
    assert.match(redirected(answer).get('error_description') ?? '', /^Invalid redirect_uri that does not match/);
    assert.equal(redirected(answer).get('code'), null);
  }
});

test('a client without redirection URIs is refused', async () => {
  const { status, fields } = await new Server().authorize({ client_id: clients.machine.client_id });
  assert.equal(status, 400);
  assert.equal(fields['error'], 'invalid_request');
});

test('an unknown or disabled response type is refused with a redirection', async () => {
  const codeOnly = { enable_implicit_grant: false };
  const implicitOnly = { enable_authorization_code: false };
  for (const [config, response_type] of [
    [{}, 'id_token'],
    [{}, ''],
    [codeOnly, 'token'],
    [implicitOnly, 'code'],
  ] as const) {
    const answer = await new Server(config).authorize({ response_type, state: 's' });
    assert.equal(answer.status, 400);
    const expected = { ...failure('unsupported_response_type', 'Invalid response_type'), state: 's' };
    assert.deepEqual(Object.fromEntries(redirected(answer)), expected);
  }
});

test('scopes must be configured', async () => {
  const server = new Server({ scopes: ['read', 'write'] });
  assert.equal((await server.authorize({ scope: 'write  read' })).status, 200);
  const answer = await server.authorize({ scope: 'read delete' });
  const expected = failure('invalid_scope', '"delete" is an invalid scope');
  assert.deepEqual([answer.status, Object.fromEntries(redirected(answer))], [400, expected]);
});

test('a scope may be mandatory', async () => {
  const server = new Server({ scopes: ['read'], mandatory_scope: true });
  for (const scope of ['', ' ']) {
    const answer = await server.authorize({ scope });
    const expected = failure('invalid_scope', 'You must specify a scope');
    assert.deepEqual([answer.status, Object.fromEntries(redirected(answer))], [400, expected]);
  }
  assert.equal((await server.authorize({ scope: 'read' })).status, 200);
});

test('the implicit grant returns a token in the fragment, without a refresh token', async () => {
  const server = new Server({ scopes: ['read'] });
  const answer = await server.authorize({ response_type: 'token', state: 's', scope: 'read' });
  const fields = redirected(answer, 'hash');
  assert.equal(new URL(answer.fields['redirect_uri'] ?? '').search, '');
  assert.deepEqual([...fields.keys()].sort(), ['access_token', 'expires_in', 'state', 'token_type']);
  const { upstream } = await server.call(fields.get('access_token'));
  assert.equal(upstream?.header('x-authenticated-userid'), 'user-7');
  assert.equal(upstream?.header('x-authenticated-scope'), 'read');
});

test('public clients need a challenge unless PKCE is `none`, all clients if it is `strict`', async () => {
  const phone = { client_id: clients.phone.client_id };
  for (const [pkce, fields, status] of [
    ['none', phone, 200],
    ['lax', phone, 400],
    ['strict', phone, 400],
    ['lax', {}, 200],
    ['strict', {}, 400],
    ['strict', { code_challenge: challenge, code_challenge_method: 'S256' }, 200],
    ['strict', { code_challenge: challenge, code_challenge_method: 'plain' }, 400],
    ['strict', { code_challenge: challenge }, 400],
    ['lax', { ...phone, code_challenge: challenge }, 200],
    ['lax', { ...phone, code_challenge: challenge, code_challenge_method: 'S256' }, 200],
    ['lax', { ...phone, code_challenge: challenge, code_challenge_method: 'S512' }, 400],
    ['lax', { ...phone, code_challenge: 'short', code_challenge_method: 'S256' }, 400],
    ['lax', { code_challenge_method: 'S256' }, 400],
  ] as const) {
    const answer = await new Server({ pkce }).authorize(fields);
    assert.equal(answer.status, status, JSON.stringify([pkce, fields]));
    if (status === 400) assert.equal(redirected(answer).get('error'), 'invalid_request');
  }
});

test('other methods are refused, as Kong does', async () => {
  for (const [path, name] of [
    ['/oauth2/authorize', 'authorization'],
    ['/oauth2/token/', 'token'],
  ] as const) {
    const { response, upstream } = await new Server({ realm: 'r' }).call(null, { path, scheme: 'https' });
    assert.equal(upstream, null);
    assert.equal(response.status, 405);
    const text = `The HTTP method GET is invalid for the ${name} endpoint`;
    assert.deepEqual(JSON.parse(response.body), failure('invalid_method', text));
    const challenged = `Bearer realm="r" error="invalid_method" error_description="${text}"`;
    assert.equal(response.header('www-authenticate'), challenged);
    assert.equal(response.header('cache-control'), null);
  }
});

test('both endpoints are served over TLS only', async () => {
  const server = new Server();
  for (const path of ['/oauth2/authorize', '/oauth2/token']) {
    for (const headers of [{}, { 'X-Forwarded-Proto': 'https' }]) {
      const { status, fields } = await server.post(path, { state: 's' }, { scheme: 'http', headers });
      assert.deepEqual([status, fields], [400, { ...failure('access_denied', 'You must use HTTPS'), state: 's' }]);
    }
  }
});

test('X-Forwarded-Proto of an untrusted client is ignored', async () => {
  const server = new Server({ accept_http_if_already_terminated: true });
  const headers = { 'X-Forwarded-Proto': 'https' };
  const { fields } = await server.authorize({}, { scheme: 'http', headers });
  assert.equal(fields['error'], 'access_denied');
});

test('a body that is too large does not reach the endpoint', async () => {
  const { response } = await new Server().test.request({
    method: 'POST',
    path: '/oauth2/token',
    scheme: 'https',
    body: 'x'.repeat(70_000),
  });
  assert.equal(response.status, 413);
});
