import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { startBackend } from '../../../test/support/backend.ts';
import { clients, startProvider, type TestProvider } from '../../../test/support/oidc-provider.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import introspection from './index.ts';

const resource = 'https://api.example/opaque';
let provider: TestProvider;

before(async () => {
  provider = await startProvider();
});
after(() => provider.close());

function pluginOf(config: Readonly<Record<string, unknown>> = {}, more: Parameters<typeof testPlugin>[1] = {}) {
  const { id, secret } = clients.machine;
  const introspection_url = `${provider.issuer}/token/introspection`;
  return testPlugin(introspection, {
    ...more,
    config: { introspection_url, client_id: id, client_secret: secret, ...config },
  });
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const questions = () => provider.requests.filter((line) => line === 'POST /token/introspection').length;

/** An introspection server with scripted answers. */
async function serverOf(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  let asked = 0;
  const server = await startBackend({
    handler: (request, response) => {
      asked += 1;
      request.resume().on('end', () => handler(request, response));
    },
  });
  const config = {
    introspection_url: server.url,
    client_id: null,
    client_secret: null,
    authorization_value: 'Bearer gateway',
  };
  return { config, asked: () => asked, [Symbol.asyncDispose]: server.close };
}

const answerOf = (value: unknown) => (_: IncomingMessage, response: ServerResponse) =>
  void response.end(typeof value === 'string' ? value : JSON.stringify(value));

test('refuses an invalid configuration', async () => {
  const { check } = testPlugin(introspection);
  const introspection_url = 'https://login.example/introspect';
  assert.equal((await check({ introspection_url, authorization_value: 'Basic eA==' })).ok, true);
  assert.equal((await check({ introspection_url })).ok, false);
  assert.equal((await check({ introspection_url, client_id: 'a' })).ok, false);
  assert.equal((await check({ authorization_value: 'x' })).ok, false);
});

test('accepts an active token of a real server, and forwards its claims', async () => {
  const token = await provider.clientToken(resource, 'read');
  const plugin = pluginOf(
    { consumer_by: 'client_id' },
    { entities: { consumers: [{ username: 'm', custom_id: 'machine' }] } },
  );
  const headers = { ...bearer(token), 'X-Credential-Sub': 'forged', X_Credential_Jti: 'forged' };
  const { upstream, consumer } = await plugin.request({ headers });
  assert.equal(consumer?.username, 'm');
  assert.equal(upstream?.header('x-credential-scope'), 'read');
  assert.equal(upstream?.header('x-credential-client-id'), 'machine');
  assert.equal(upstream?.header('x-credential-identifier'), 'machine');
  assert.equal(upstream?.header('authorization'), `Bearer ${token}`);
  assert.equal(upstream?.header('x-credential-sub'), null);
  assert.equal(JSON.stringify(upstream?.headers).includes('forged'), false);
});

test('caches the answer, and introspects once for concurrent requests', async () => {
  const token = await provider.clientToken(resource);
  const plugin = pluginOf();
  const before = questions();
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => plugin.request({ headers: bearer(token) })));
  assert.ok(outcomes.every((outcome) => outcome.upstream !== null));
  await plugin.request({ headers: bearer(token) });
  assert.equal(questions(), before + 1);
  const always = pluginOf({ ttl: 0 });
  await always.request({ headers: bearer(token) });
  await always.request({ headers: bearer(token) });
  assert.equal(questions(), before + 3);
});

test('refuses an inactive token without a reason, and caches that', async () => {
  const plugin = pluginOf({ realm: 'a "realm"' });
  const before = questions();
  for (let round = 0; round < 3; round += 1) {
    const { response, upstream } = await plugin.request({ headers: bearer('unknown-token') });
    assert.deepEqual([response.status, upstream], [401, null]);
    assert.match(response.header('www-authenticate') ?? '', /^Bearer realm="a \\"realm\\"", error="invalid_token"/);
  }
  assert.equal(questions(), before + 1);
});

test('does not introspect without a token, with several tokens, or with a malformed token', async () => {
  const plugin = pluginOf();
  const before = questions();
  const { response } = await plugin.request();
  assert.deepEqual([response.status, response.header('www-authenticate')], [401, 'Bearer']);
  for (const request of [
    { headers: { Authorization: ['Bearer a', 'Bearer b'] } },
    { headers: { Authorization: 'Bearer a b' } },
    { headers: { Authorization: 'Bearer ' } },
    { headers: bearer('a'), path: '/?access_token=b' },
    { path: '/?access_token=a&access_token=b' },
  ]) {
    assert.equal((await plugin.request(request)).response.status, 401);
  }
  assert.equal(questions(), before);
});

test('finds a token in the query and hides it from the backend', async () => {
  const token = await provider.clientToken(resource);
  const plugin = pluginOf({ hide_credentials: true });
  const { upstream } = await plugin.request({ path: `/?a=1&access_token=${token}` });
  assert.equal(upstream?.query, 'a=1');
  const header = await plugin.request({ headers: bearer(token) });
  assert.equal(header.upstream?.header('authorization'), null);
});

test('checks scopes and audience', async () => {
  const token = await provider.clientToken(resource, 'read');
  const lacking = await pluginOf({ scopes_required: ['read write', 'admin'] }).request({ headers: bearer(token) });
  assert.equal(lacking.response.status, 403);
  assert.match(lacking.response.header('www-authenticate') ?? '', /error="insufficient_scope".*scope="read write"/);
  const enough = await pluginOf({ scopes_required: ['write', 'read'] }).request({ headers: bearer(token) });
  assert.notEqual(enough.upstream, null);
  const other = await pluginOf({ audience_required: ['https://other.example'] }).request({ headers: bearer(token) });
  assert.equal(other.response.status, 401);
  const right = await pluginOf({ audience_required: [resource] }).request({ headers: bearer(token) });
  assert.notEqual(right.upstream, null);
});

test('refuses unknown consumers, and uses the anonymous one', async () => {
  const token = await provider.clientToken(resource);
  const strict = await pluginOf({ consumer_by: 'client_id', consumer_optional: false }).request({
    headers: bearer(token),
  });
  assert.equal(strict.response.status, 403);
  for (const slowEntities of [false, true]) {
    const entities = { consumers: [{ username: 'nobody' }, { username: 'machine' }] };
    const plugin = pluginOf({ anonymous: 'nobody', consumer_by: 'client_id' }, { entities, slowEntities });
    assert.equal((await plugin.request({ headers: bearer('bad') })).consumer?.username, 'nobody');
    assert.equal((await plugin.request({ headers: bearer(token) })).consumer?.username, 'machine');
  }
});

test('caches an answer at most until the token expires, and refuses expired ones', async () => {
  const exp = Math.floor(Date.now() / 1000);
  await using over = await serverOf(answerOf({ active: true, exp }));
  assert.equal((await pluginOf(over.config).request({ headers: bearer('t') })).response.status, 401);
  await using strange = await serverOf(answerOf({ active: true, exp: 'never' }));
  assert.equal((await pluginOf(strange.config).request({ headers: bearer('t') })).response.status, 401);
});

test('sends the request with introspect_request, and caches the answer only for it', async () => {
  const seen: unknown[] = [];
  await using server = await serverOf((request, response) => {
    seen.push([request.headers['x-request-http-method'], request.headers['x-request-path'], request.headers['x-own']]);
    response.end(JSON.stringify({ active: request.headers['x-request-path'] === '/yes' }));
  });
  const plugin = pluginOf({
    ...server.config,
    introspect_request: true,
    custom_introspection_headers: { 'X-Own': '1' },
  });
  for (const [path, status] of [
    ['/yes', 200],
    ['/no', 401],
    ['/yes', 200],
    // It receives the path that the backend gets: the request line could hide the real target.
    ['/yes/../no', 401],
    ['/yes/..//%6e%6f2', 401],
    ['/%79es', 200],
  ] as const) {
    assert.equal((await plugin.request({ path, headers: bearer('t') })).response.status, status, path);
  }
  assert.deepEqual(seen, [
    ['GET', '/yes', '1'],
    ['GET', '/no', '1'],
    ['GET', '/no2', '1'],
  ]);
});

for (const [name, handler] of [
  ['an error', (_: IncomingMessage, response: ServerResponse) => void response.writeHead(500).end('{"active":true}')],
  ['a refusal of the gateway', (_: IncomingMessage, response: ServerResponse) => void response.writeHead(401).end()],
  ['no JSON', answerOf('active')],
  ['a list', answerOf([{ active: true }])],
  ['no boolean', answerOf({ active: 'true' })],
  ['an answer without end', answerOf(JSON.stringify({ active: true, text: 'x'.repeat(300_000) }))],
  ['a broken connection', (request: IncomingMessage) => void request.socket.destroy()],
  ['silence', () => {}],
] as const) {
  test(`answers 503, logs and counts a server that gives ${name}, and never continues as anonymous`, async () => {
    await using server = await serverOf(handler);
    const plugin = pluginOf(
      { ...server.config, timeout: 200, anonymous: 'nobody' },
      { entities: { consumers: [{ username: 'nobody' }] } },
    );
    const { response, upstream } = await plugin.request({ headers: bearer('secret-token') });
    assert.deepEqual([response.status, upstream, server.asked()], [503, null, 1]);
    await plugin.request({ headers: bearer('secret-token') });
    assert.equal(plugin.counts.get('oauth2-introspection.introspection_failures'), 2);
    assert.equal(JSON.stringify(plugin.logLines).includes('secret-token'), false);
    assert.equal(plugin.logLines[0]?.level, 'error');
  });
}

test('logs one line for hundreds of requests that fail while the server is unavailable', async () => {
  await using server = await serverOf((request: IncomingMessage) => void request.socket.destroy());
  const plugin = pluginOf(server.config);
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, at) =>
      plugin.request({ headers: bearer(`token-${at}`), clientIp: `192.0.2.${at % 250}` }),
    ),
  );
  assert.ok(answers.every(({ response }) => response.status === 503));
  assert.equal(plugin.counts.get('oauth2-introspection.introspection_failures'), 300);
  assert.ok(plugin.logLines.length <= 3, JSON.stringify(plugin.logLines));
});

test('keeps using cached answers while the server is unavailable', async () => {
  const token = await provider.clientToken(resource);
  const plugin = pluginOf();
  assert.notEqual((await plugin.request({ headers: bearer(token) })).upstream, null);
  provider.available = false;
  assert.notEqual((await plugin.request({ headers: bearer(token) })).upstream, null);
  assert.equal((await plugin.request({ headers: bearer('other') })).response.status, 503);
  provider.available = true;
  assert.equal((await plugin.request({ headers: bearer('other') })).response.status, 401);
});

test('accepts OPTIONS requests without a token if configured', async () => {
  assert.equal((await pluginOf().request({ method: 'OPTIONS' })).response.status, 401);
  assert.notEqual((await pluginOf({ run_on_preflight: false }).request({ method: 'OPTIONS' })).upstream, null);
});
