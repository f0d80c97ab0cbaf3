import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ada, clients, failure, Server, serviceId } from './oauth2.fixture.ts';

const invalid = failure('invalid_token', 'The access token is invalid or has expired');
const missing = failure('invalid_request', 'The access token is missing');

/** A stored token, as created by the Admin API. */
function token(fields: Readonly<Record<string, unknown>> = {}) {
  return {
    id: '00000000-0000-4000-8000-0000000000aa',
    created_at: Date.now(),
    service: { id: serviceId },
    credential: { id: clients.app.id },
    token_type: 'bearer',
    access_token: 'good',
    refresh_token: null,
    expires_in: 100,
    authenticated_userid: null,
    scope: null,
    ...fields,
  };
}

function serverWith(fields: Readonly<Record<string, unknown>> = {}, config = {}, slow = false): Server {
  return new Server(config, { slow, entities: { oauth2_tokens: [token(fields)] } });
}

test('a request with a valid token passes as the consumer of the application', async () => {
  for (const slow of [false, true]) {
    const server = serverWith({ scope: 'read write', authenticated_userid: 'Zoë' }, {}, slow);
    const { upstream, consumer } = await server.call('good');
    assert.equal(consumer?.username, 'ada');
    assert.equal(upstream?.header('x-consumer-id'), ada.id);
    assert.equal(upstream?.header('x-consumer-custom-id'), 'a-1');
    assert.equal(upstream?.header('x-credential-identifier'), 'client-1');
    assert.equal(upstream?.header('x-authenticated-scope'), 'read write');
    assert.equal(Buffer.from(upstream?.header('x-authenticated-userid') ?? '', 'latin1').toString('utf8'), 'Zoë');
    assert.equal(upstream?.header('authorization'), 'Bearer good');
  }
});

test('identity headers of a client are never passed on', async () => {
  const headers = { 'X-Authenticated-Userid': 'root', 'X-Authenticated-Scope': 'all', X_Authenticated_Userid: 'root' };
  const { upstream } = await serverWith().call('good', { headers });
  assert.equal(upstream?.header('x-authenticated-userid'), null);
  assert.equal(upstream?.header('x-authenticated-scope'), null);
  assert.equal(upstream?.header('x_authenticated_userid'), null);
});

test('the token may be in the header with either scheme, in the query, or in a form', async () => {
  const server = serverWith();
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  for (const request of [
    { headers: { Authorization: 'bearer good' } },
    { headers: { Authorization: 'BEARER  good' } },
    { headers: { Authorization: 'token good' } },
    { path: '/api?access_token=good' },
    { method: 'POST', headers: form, body: 'a=b&access_token=good' },
  ]) {
    assert.notEqual((await server.call(null, request)).upstream, null, JSON.stringify(request));
  }
});

test('the header takes precedence over the query, and the query over the form', async () => {
  const server = serverWith();
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = { method: 'POST', headers: form, body: 'access_token=good' };
  assert.equal((await server.call('bad', { path: '/api?access_token=good' })).response.status, 401);
  assert.equal((await server.call(null, { path: '/api?access_token=bad', ...body })).response.status, 401);
});

test('a body of another type is not searched for a token', async () => {
  const body = JSON.stringify({ access_token: 'good' });
  const { response } = await serverWith().call(null, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });
  assert.deepEqual([response.status, JSON.parse(response.body)], [401, missing]);
});

test('the name of the header can be configured', async () => {
  const server = serverWith({}, { auth_header_name: 'X-Token' });
  assert.notEqual((await server.call(null, { headers: { 'X-Token': 'Bearer good' } })).upstream, null);
  assert.notEqual((await server.call(null, { headers: { 'X-Token': 'good' } })).upstream, null);
  assert.equal((await server.call('good')).response.status, 401);
});

test('without a token: 401 with a description', async () => {
  for (const [config, challenge] of [
    [{}, 'Bearer'],
    [{ realm: 'api "1"' }, 'Bearer realm="api \\"1\\""'],
  ] as const) {
    for (const request of [{}, { path: '/api?access_token=' }, { headers: { Authorization: '' } }]) {
      const { response, upstream } = await serverWith({}, config).call(null, request);
      assert.equal(upstream, null);
      assert.deepEqual([response.status, JSON.parse(response.body)], [401, missing]);
      assert.equal(response.header('www-authenticate'), challenge);
    }
  }
});

test('with a bad token: 401, always the same', async () => {
  const tokens = [
    token(),
    token({ id: '1', access_token: 'expired', created_at: Date.now() - 100_000 }),
    token({ id: '2', access_token: 'elsewhere', service: { id: clients.app.id } }),
    token({ id: '3', access_token: 'global', service: null }),
    token({ id: '4', access_token: 'orphan', credential: { id: clients.app.id.replace(/1$/, '9') } }),
  ];
  const server = new Server({ realm: 'r' }, { entities: { oauth2_tokens: tokens } });
  const challenge =
    'Bearer realm="r" error="invalid_token" error_description="The access token is invalid or has expired"';
  const wrong = [
    'unknown',
    'expired',
    'elsewhere',
    'global',
    'orphan',
    'good x',
    'x'.repeat(5000),
    'Good',
    'goo',
    'good%00',
  ];
  for (const text of wrong) {
    const { response } = await server.call(text);
    assert.deepEqual([response.status, JSON.parse(response.body)], [401, invalid], text);
    assert.equal(response.header('www-authenticate'), challenge);
  }
  const { response } = await server.call(null, { headers: { Authorization: 'Basic Z29vZDpnb29k' } });
  assert.deepEqual([response.status, JSON.parse(response.body)], [401, invalid]);
});

test('two tokens in one place are invalid', async () => {
  const server = serverWith();
  for (const request of [
    { headers: { Authorization: ['Bearer good', 'Bearer other'] } },
    { path: '/api?access_token=good&access_token=other' },
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'access_token=good&access_token=x',
    },
  ]) {
    const { response } = await server.call(null, request);
    assert.deepEqual([response.status, JSON.parse(response.body)], [401, invalid], JSON.stringify(request));
  }
});

test('a token expires on time, even if it is cached', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 });
  const server = serverWith();
  assert.ok(await server.works('good'));
  t.mock.timers.tick(99_000);
  assert.ok(await server.works('good'));
  t.mock.timers.tick(1000);
  assert.equal(await server.works('good'), false);
});

test('a token is invalid after its credential or consumer was deleted', async () => {
  for (const [entity, id] of [
    ['oauth2_credentials', clients.app.id],
    ['consumers', ada.id],
    ['oauth2_tokens', token().id],
  ] as const) {
    const server = serverWith();
    assert.ok(await server.works('good'));
    await server.test.entities.delete(entity, id);
    assert.equal(await server.works('good'), false, entity);
  }
});

test('global credentials: tokens of no service only', async () => {
  const global = { global_credentials: true };
  assert.ok(await serverWith({ service: null }, global).works('good'));
  assert.equal(await serverWith({}, global).works('good'), false);
});

test('a user id that a header cannot contain is not passed on', async () => {
  const { upstream } = await serverWith({ authenticated_userid: 'a\r\nX-Admin: 1', scope: 'a\nb' }).call('good');
  assert.equal(upstream?.header('x-authenticated-userid'), null);
  assert.equal(upstream?.header('x-authenticated-scope'), null);
  assert.equal(upstream?.header('x-admin'), null);
});

test('credentials are hidden from the backend with hide_credentials', async () => {
  const server = serverWith({}, { hide_credentials: true });
  const path = '/api?a=1&access_token=other&%61ccess_token=x&b=2';
  const { upstream } = await server.call('good', { path });
  assert.equal(upstream?.header('authorization'), null);
  assert.equal(upstream?.query, 'a=1&b=2');
  const inQuery = await server.call(null, { path: '/api?access_token=good' });
  assert.equal(inQuery.upstream?.query, '');
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const inForm = await server.call(null, { method: 'POST', headers, body: 'a=%20b&access_token=good&c=+' });
  assert.equal(Buffer.from(inForm.upstream?.body ?? '').toString(), 'a=%20b&c=+');
});

test('with `hide_credentials` a form that cannot be searched for a token is refused, with an anonymous consumer too', async () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  for (const anonymous of [null, 'bob']) {
    const server = serverWith({}, { hide_credentials: true, anonymous });
    const many = await server.call(null, { method: 'POST', headers, body: `access_token=good${'&a'.repeat(1000)}` });
    assert.deepEqual([many.response.status, many.upstream], [400, null]);
    const large = await server.call(null, {
      method: 'POST',
      headers,
      body: `access_token=good&a=${'x'.repeat(70_000)}`,
    });
    assert.deepEqual([large.response.status, large.upstream], [413, null]);
  }
});

test('without a valid token a request continues as the anonymous consumer, if configured', async () => {
  const server = serverWith({}, { anonymous: 'bob' });
  for (const text of [null, 'bad']) {
    const { upstream } = await server.call(text);
    assert.equal(upstream?.header('x-consumer-username'), 'bob');
    assert.equal(upstream?.header('x-anonymous-consumer'), 'true');
    assert.equal(upstream?.header('x-credential-identifier'), null);
  }
  assert.equal((await server.call('good')).upstream?.header('x-consumer-username'), 'ada');
  assert.equal((await serverWith({}, { anonymous: 'nobody' }).call(null)).response.status, 500);
});

test('the endpoints never use the anonymous consumer', async () => {
  const server = serverWith({}, { anonymous: 'bob' });
  assert.equal((await server.token({ grant_type: 'client_credentials', client_secret: 'wrong' })).status, 400);
  const { response } = await server.call(null, { path: '/oauth2/token', scheme: 'https' });
  assert.equal(response.status, 405);
});
