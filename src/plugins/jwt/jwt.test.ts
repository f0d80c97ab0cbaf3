import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntityAccessError } from '../../plugin-sdk/index.ts';
import { type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import { algorithmNames } from './algorithms.ts';
import jwt from './index.ts';
import { encode, type Members, pairFor, tokenOf } from './tokens.fixture.ts';

const ada = { id: '0a000000-0000-4000-8000-00000000000a', username: 'ada', custom_id: null, tags: null };
const secret = 'a secret that only the issuer and the gateway know';
const rsa = pairFor('RS256');

function credential(more: Members = {}): Members {
  return { key: 'issuer', secret, algorithm: 'HS256', rsa_public_key: null, consumer: { id: ada.id }, ...more };
}

function guard(config: Members = {}, ...credentials: readonly Members[]) {
  const rows = credentials.length === 0 ? [credential()] : credentials;
  return testPlugin(jwt, { config, entities: { consumers: [ada], jwt_secrets: rows } });
}

function bearer(token: string): TestRequest {
  return { headers: { authorization: `Bearer ${token}` } };
}

const good = tokenOf('HS256', secret, { iss: 'issuer' });
const now = (): number => Math.floor(Date.now() / 1000);

/** The answer to a refused token. */
async function refusal(token: string, config: Members = {}, ...credentials: readonly Members[]) {
  const { response, upstream } = await guard(config, ...credentials).request(bearer(token));
  assert.equal(upstream, null);
  assert.equal(response.status, 401);
  assert.equal(response.header('www-authenticate'), 'Bearer error="invalid_token"');
  return JSON.parse(response.body) as Record<string, string>;
}

test('has the defaults of Kong', async () => {
  const result = await testPlugin(jwt).check({});
  assert.ok(result.ok);
  const { uri_param_names, cookie_names, key_claim_name, secret_is_base64, claims_to_verify, header_names } =
    result.config;
  assert.deepEqual(
    [uri_param_names, cookie_names, key_claim_name, secret_is_base64, claims_to_verify, header_names],
    [['jwt'], [], 'iss', false, null, ['authorization']],
  );
  const { anonymous, run_on_preflight, maximum_expiration, realm } = result.config;
  assert.deepEqual([anonymous, run_on_preflight, maximum_expiration, realm], [null, true, 0, null]);
});

test('maximum_expiration requires exp in claims_to_verify if that is set', async () => {
  const result = await testPlugin(jwt).check({ maximum_expiration: 60, claims_to_verify: ['nbf'] });
  assert.ok(!result.ok);
  assert.match(result.message, /claims_to_verify: expected to contain: exp/);
  for (const claims_to_verify of [undefined, null, ['exp'], ['nbf', 'exp']]) {
    assert.equal((await testPlugin(jwt).check({ maximum_expiration: 60, claims_to_verify })).ok, true);
  }
});

test('accepts a valid token, and forwards it with the consumer and its credential', async () => {
  const { upstream, consumer } = await guard().request(bearer(good));
  assert.equal(consumer?.username, 'ada');
  assert.equal(upstream?.header('x-consumer-username'), 'ada');
  assert.equal(upstream?.header('x-credential-identifier'), 'issuer');
  assert.equal(upstream?.header('authorization'), `Bearer ${good}`);
});

test('reveals nothing in the answer to a request without a token', async () => {
  const { response } = await guard().request();
  assert.equal(response.status, 401);
  assert.equal(response.body, '{"message":"Unauthorized"}');
  assert.equal(response.header('www-authenticate'), 'Bearer');
  const realm = (await guard({ realm: 'users "api"' }).request()).response.header('www-authenticate');
  assert.equal(realm, 'Bearer realm="users \\"api\\""');
});

for (const algorithm of algorithmNames) {
  test(`accepts tokens signed with ${algorithm}`, async () => {
    const pair = algorithm.startsWith('HS') ? null : pairFor(algorithm);
    const row = credential({ algorithm, rsa_public_key: pair?.pem ?? null });
    const token = tokenOf(algorithm, pair?.privateKey ?? secret, { iss: 'issuer' });
    const plugin = guard({}, row);
    assert.equal((await plugin.request(bearer(token))).response.status, 200);
    const other = tokenOf(algorithm, pair === null ? 'another' : pairFor(algorithm).privateKey, { iss: 'issuer' });
    const { response } = await plugin.request(bearer(other));
    assert.equal(response.body, '{"message":"Invalid signature"}');
    const [head = '', , signature = ''] = token.split('.');
    const moved = `${head}.${encode({ iss: 'issuer', admin: true })}.${signature}`;
    assert.equal((await plugin.request(bearer(moved))).response.body, '{"message":"Invalid signature"}');
  });
}

test('finds the token in the configured query arguments, cookies and headers', async () => {
  const plugin = guard({ uri_param_names: ['jwt', 't'], cookie_names: ['session'], header_names: ['X-Token'] });
  const requests: readonly TestRequest[] = [
    { path: `/?jwt=${good}` },
    { path: `/?a=1&t=${good}` },
    { headers: { cookie: `a=1; session=${good}` } },
    { headers: { 'x-token': `bearer ${good}` } },
    { path: `/?jwt=${good}`, headers: { cookie: `session=${good}`, 'x-token': `Bearer ${good}` } },
  ];
  for (const request of requests) assert.equal((await plugin.request(request)).response.status, 200);
  assert.equal((await plugin.request(bearer(good))).response.status, 401);
  const two = await plugin.request({ path: `/?jwt=${good}x`, headers: { 'x-token': `Bearer ${good}` } });
  assert.equal(two.response.body, '{"message":"Multiple tokens provided"}');
  const lines = { 'x-token': [`Bearer ${good}`, `Bearer ${good}x`] };
  assert.equal((await plugin.request({ headers: lines })).response.body, '{"message":"Multiple tokens provided"}');
  assert.equal(
    (await plugin.request({ headers: { 'x-token': [`Bearer ${good}`, `Bearer ${good}`] } })).response.status,
    200,
  );
  const empty = await plugin.request({ path: '/?jwt' });
  assert.equal(empty.response.body, '{"message":"Unrecognizable token"}');
  const basic = await guard().request({ headers: { authorization: 'Basic YTpi' } });
  assert.equal(basic.response.body, '{"message":"Unauthorized"}');
});

test('finds the credential by a claim, else by a field of the header', async () => {
  const token = tokenOf('HS256', secret, { x: 1 }, { kid: 'issuer' });
  const plugin = guard({ key_claim_name: 'kid' });
  assert.equal((await plugin.request(bearer(token))).response.status, 200);
  assert.deepEqual(await refusal(tokenOf('HS256', secret, { a: 1 })), { message: "No mandatory 'iss' in claims" });
  assert.deepEqual(await refusal(tokenOf('HS256', secret, { iss: '' })), { message: "Invalid 'iss' in claims" });
  assert.deepEqual(await refusal(tokenOf('HS256', secret, { iss: 5 })), { message: "Invalid 'iss' in claims" });
  const unknown = tokenOf('HS256', secret, { iss: 'nobody' });
  assert.deepEqual(await refusal(unknown), { message: "No credentials found for given 'iss'" });
});

test('accepts base64 secrets', async () => {
  const bytes = Buffer.from([0xfb, 0xff, 0x00, 0x10, 0x20]);
  const token = tokenOf('HS256', bytes.toString('latin1'), { iss: 'issuer' });
  assert.ok(token.length > 0);
  for (const form of [bytes.toString('base64'), bytes.toString('base64url')]) {
    const signed = `${encode({ alg: 'HS256' })}.${encode({ iss: 'issuer' })}`;
    const { createHmac } = await import('node:crypto');
    const mac = createHmac('sha256', bytes).update(signed).digest('base64url');
    const plugin = guard({ secret_is_base64: true }, credential({ secret: form }));
    assert.equal((await plugin.request(bearer(`${signed}.${mac}`))).response.status, 200);
  }
  assert.deepEqual(await refusal(good, { secret_is_base64: true }, credential({ secret: '***' })), {
    message: 'Invalid key/secret',
  });
});

test('checks exp and nbf', async () => {
  const both = { claims_to_verify: ['exp', 'nbf'] };
  const make = (claims: Members): string => tokenOf('HS256', secret, { iss: 'issuer', ...claims });
  assert.equal((await guard(both).request(bearer(make({ exp: now() + 60, nbf: now() - 1 })))).response.status, 200);
  assert.deepEqual(await refusal(make({ exp: now() - 1, nbf: now() + 60 }), both), {
    exp: 'token expired',
    nbf: 'token not valid yet',
  });
  assert.deepEqual(await refusal(make({}), both), { exp: 'must be a number', nbf: 'must be a number' });
  assert.deepEqual(await refusal(make({ exp: '1' }), { claims_to_verify: ['exp'] }), { exp: 'must be a number' });
  const longest = { claims_to_verify: ['exp'], maximum_expiration: 300 };
  assert.deepEqual(await refusal(make({ exp: now() + 400 }), longest), { exp: 'exceeds maximum allowed expiration' });
  assert.equal((await guard(longest).request(bearer(make({ exp: now() + 200 })))).response.status, 200);
  const alone = { maximum_expiration: 300 };
  assert.equal((await guard(alone).request(bearer(make({ exp: now() + 200 })))).response.status, 200);
  for (const claims of [{ exp: now() + 400 }, {}, { exp: 'soon' }]) {
    assert.deepEqual(await refusal(make(claims), alone), { exp: 'exceeds maximum allowed expiration' });
  }
  assert.equal(
    (await guard().request(bearer(make({ exp: 1 })))).response.status,
    200,
    'what is not asked for does not count',
  );
});

test('accepts the schemes Bearer and bearer, as Kong does', async () => {
  for (const [scheme, status] of [
    ['Bearer', 200],
    ['bearer', 200],
    ['BEARER', 401],
    ['bEARER', 401],
  ] as const) {
    const { response } = await guard().request({ headers: { authorization: `${scheme} ${good}` } });
    assert.equal(response.status, status, scheme);
  }
});

test('refuses a name with a line break or another control character', async () => {
  for (const iss of ['issuer\r\nX-Consumer-Username: bob', 'issuer\n', 'a\0b']) {
    const token = tokenOf('HS256', secret, { iss });
    assert.deepEqual(await refusal(token, {}, credential({ key: iss })), { message: "Invalid 'iss' in claims" });
  }
});

test('limits issuers and audiences', async () => {
  const config = { issuers: ['issuer'], audiences: ['users', 'orders'] };
  const make = (claims: Members): string => tokenOf('HS256', secret, { iss: 'issuer', ...claims });
  assert.equal((await guard(config).request(bearer(make({ aud: ['x', 'orders'] })))).response.status, 200);
  assert.equal((await guard(config).request(bearer(make({ aud: 'users' })))).response.status, 200);
  assert.deepEqual(await refusal(make({ aud: 'x' }), config), { aud: 'not allowed' });
  assert.deepEqual(await refusal(make({}), config), { aud: 'not allowed' });
  assert.deepEqual(await refusal(good, { issuers: ['other'] }), { iss: 'not allowed' });
});

test('refuses a cached token once it has expired, or its credential has changed or been deleted', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
  const token = tokenOf('HS256', secret, { iss: 'issuer', exp: 1_800_000_100 });
  const plugin = guard({ claims_to_verify: ['exp'] });
  const status = async (): Promise<number> => (await plugin.request(bearer(token))).response.status;
  assert.equal(await status(), 200);
  assert.equal(await status(), 200);
  t.mock.timers.setTime(1_800_000_100_000);
  assert.equal(await status(), 401);
  t.mock.timers.setTime(1_800_000_050_000);
  assert.equal(await status(), 200);
  const row = await plugin.entities.find('jwt_secrets', 'key', 'issuer');
  await plugin.entities.update('jwt_secrets', row!.id, { secret: 'changed' });
  assert.equal(await status(), 401);
  await plugin.entities.update('jwt_secrets', row!.id, { secret });
  assert.equal(await status(), 200);
  await plugin.entities.delete('jwt_secrets', row!.id);
  assert.equal(await status(), 401);
});

test('applies the leeway to exp and nbf', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
  const plugin = guard({ claims_to_verify: ['exp', 'nbf'], leeway: 10 });
  const make = (exp: number, nbf: number): TestRequest =>
    bearer(tokenOf('HS256', secret, { iss: 'issuer', exp: 1_800_000_000 + exp, nbf: 1_800_000_000 + nbf }));
  assert.equal((await plugin.request(make(-9, 10))).response.status, 200);
  assert.equal((await plugin.request(make(-10, 0))).response.status, 401);
  assert.equal((await plugin.request(make(1, 11))).response.status, 401);
});

test('uses the anonymous consumer, and accepts preflight requests if configured', async () => {
  const plugin = guard({ anonymous: 'ada', run_on_preflight: false });
  const { upstream } = await plugin.request(bearer('rubbish'));
  assert.equal(upstream?.header('x-anonymous-consumer'), 'true');
  assert.equal((await guard({ run_on_preflight: false }).request({ method: 'OPTIONS' })).response.status, 200);
  assert.equal((await guard().request({ method: 'OPTIONS' })).response.status, 401);
});

test('provides claims and scopes to later plugins', async () => {
  const seen: unknown[] = [];
  const { definePlugin, httpProtocols } = await import('../../plugin-sdk/index.ts');
  const { record } = await import('../../plugin-sdk/schema.ts');
  const look = definePlugin({
    name: 'look',
    version: '1.0.0',
    priority: 5,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({ access: ({ client }) => void seen.push(client.details) }),
  });
  const plugin = testPlugin(jwt, {
    entities: { consumers: [ada], jwt_secrets: [credential()] },
    otherPlugins: [{ plugin: look }],
  });
  await plugin.request(bearer(tokenOf('HS256', secret, { iss: 'issuer', scope: 'read write' })));
  assert.deepEqual(seen, [{ groups: null, scopes: ['read', 'write'], claims: { iss: 'issuer', scope: 'read write' } }]);
});

test('refuses a public key with the wrong algorithm', async () => {
  const row = credential({ algorithm: 'ES256', rsa_public_key: rsa.pem });
  const token = tokenOf('ES256', pairFor('ES256').privateKey, { iss: 'issuer' });
  assert.deepEqual(await refusal(token, {}, row), { message: 'Invalid key/secret' });
});

test('answers 503 when the credential of a cached token cannot be looked up, with the client in the lookup', async () => {
  const plugin = guard();
  assert.equal((await plugin.request(bearer(good))).response.status, 200);
  const clients: (string | undefined)[] = [];
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', onUnhandled);
  Object.assign(plugin.entities, {
    find(_entity: string, _field: string, _value: string, client?: string) {
      clients.push(client);
      return Promise.reject(new EntityAccessError('unavailable', 'the store is unavailable'));
    },
  });
  try {
    const { response, upstream } = await plugin.request(bearer(good));
    await new Promise(setImmediate);
    assert.deepEqual([response.status, upstream, unhandled], [503, null, []]);
    assert.deepEqual(new Set(clients), new Set(['127.0.0.1']));
  } finally {
    process.off('unhandledRejection', onUnhandled);
  }
});
