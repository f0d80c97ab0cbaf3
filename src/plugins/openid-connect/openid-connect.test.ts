import assert from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startBackend } from '../../../test/support/backend.ts';
import { startProvider, type TestProvider } from '../../../test/support/oidc-provider.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import openId from './index.ts';

const resource = 'https://api.example';
let provider: TestProvider;

before(async () => {
  provider = await startProvider();
});
after(() => provider.close());

function pluginOf(config: Readonly<Record<string, unknown>> = {}, more: Parameters<typeof testPlugin>[1] = {}) {
  const usual = { issuer: provider.issuer, audience_required: [resource], rediscovery_lifetime: 0 };
  return testPlugin(openId, { ...more, config: { ...usual, ...config } });
}

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const discoveries = () => provider.requests.filter((line) => line.endsWith('/openid-configuration')).length;
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

interface Forgery {
  readonly head?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: KeyObject;
}

/** A token with the key of the provider, except for the given changes. */
function tokenOf({ head = {}, claims = {}, key = provider.key.privateKey }: Forgery = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const usual = { iss: provider.issuer, aud: resource, sub: 'ada', exp: now + 60, iat: now, scope: 'read' };
  const text = `${part({ alg: 'RS256', kid: provider.key.id, typ: 'at+jwt', ...head })}.${part({ ...usual, ...claims })}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

test('configurations', async () => {
  const { check } = testPlugin(openId);
  const issuer = 'https://login.example';
  const client = { client_id: ['a'], redirect_uri: ['https://app.example/cb'] };
  for (const [config, ok] of [
    [{ issuer }, true],
    [{}, false],
    [{ issuer: 'http://login.example' }, false],
    [{ issuer: 'http://login.example', allow_http: true }, true],
    [{ issuer: 'http://127.0.0.1:3000' }, true],
    [{ issuer: 'ftp://127.0.0.1' }, false],
    [{ issuer, auth_methods: ['authorization_code'] }, false],
    [{ issuer, auth_methods: ['authorization_code'], ...client }, true],
    [{ issuer, auth_methods: ['session'], ...client, session_cookie_name: 'authorization' }, false],
    [{ issuer, upstream_headers_claims: ['a'] }, false],
    [{ issuer, algorithms: ['HS256'] }, false],
    [{ issuer, algorithms: ['none'] }, false],
    [{ issuer, cache_tokens_salt: 'salt', cache_tokens: true, response_mode: 'query', response_type: ['code'] }, true],
    [{ issuer, verify_signature: true, verify_claims: true, verify_nonce: true, login_action: 'redirect' }, true],
    [{ issuer, session_storage: 'cookie', session_cookie_renew: 600, session_strategy: 'default' }, true],
    [{ issuer, verify_signature: false }, false],
    [{ issuer, verify_nonce: false }, false],
    [{ issuer, response_mode: 'fragment' }, false],
    [{ issuer, session_storage: 'redis' }, false],
    [{ issuer, client_auth: ['private_key_jwt'] }, false],
  ] as const) {
    assert.equal((await check(config)).ok, ok, JSON.stringify(config));
  }
});

test('names of Kong map to those of the plugin', async () => {
  const checked = await testPlugin(openId).check({
    issuer: 'https://login.example',
    client_auth: ['client_secret_post'],
    authorization_rolling_timeout: 60,
    session_cookie_idletime: 50,
    session_cookie_samesite: 'off',
    session_cookie_httponly: false,
  });
  assert.ok(checked.ok);
  const { token_endpoint_auth_method: method, authorization_cookie_lifetime: lifetime } = checked.config;
  assert.deepEqual([method, lifetime, checked.config['session_idling_timeout']], ['client_secret_post', 60, 50]);
  const { session_cookie_same_site: sameSite, session_cookie_http_only: httpOnly } = checked.config;
  assert.deepEqual([sameSite, httpOnly], ['Lax', false]);
});

test('a token of the provider is accepted, with its consumer', async () => {
  const token = await provider.clientToken(resource, 'read write');
  const plugin = pluginOf(
    { consumer_claim: ['client_id'], upstream_headers_claims: ['scope'], upstream_headers_names: ['X-Scope'] },
    { entities: { consumers: [{ username: 'machine' }] } },
  );
  const { upstream, consumer } = await plugin.request(bearer(token));
  assert.equal(consumer?.username, 'machine');
  assert.equal(upstream?.header('x-scope'), 'read write');
  assert.equal(upstream?.header('x-credential-identifier'), 'machine');
  assert.equal(upstream?.header('authorization'), `Bearer ${token}`);
  const hidden = await pluginOf({ hide_credentials: true }).request(bearer(token));
  assert.equal(hidden.upstream?.header('authorization'), null);
});

test('a valid token that is created like the invalid ones below', async () => {
  const { upstream } = await pluginOf().request(bearer(tokenOf()));
  assert.equal(upstream?.header('x-credential-identifier'), 'ada');
  assert.notEqual((await pluginOf().request(bearer(tokenOf({ head: { typ: 'JWT' } })))).upstream, null);
  const forged = await pluginOf({ upstream_headers_claims: ['x'], upstream_headers_names: ['X-Role'] }).request({
    headers: { ...bearer(tokenOf()).headers, 'X-Role': 'admin', X_Role: 'admin' },
  });
  assert.equal(JSON.stringify(forged.upstream?.headers).includes('admin'), false);
});

const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const seconds = (from: number) => Math.floor(Date.now() / 1000) + from;
const bad: Readonly<Record<string, () => string>> = {
  'alg none': () => `${part({ alg: 'none', typ: 'at+jwt' })}.${tokenOf().split('.')[1]}.`,
  'alg none with a signature': () => tokenOf({ head: { alg: 'none' } }),
  'HS256 with the public key': () => {
    const pem = createPublicKey(provider.key.privateKey).export({ type: 'spki', format: 'pem' });
    const text = `${part({ alg: 'HS256', kid: provider.key.id, typ: 'at+jwt' })}.${tokenOf().split('.')[1]}`;
    return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
  },
  'a foreign key': () => tokenOf({ key: foreign }),
  'a foreign key in the head': () =>
    tokenOf({ key: foreign, head: { jwk: createPublicKey(foreign).export({ format: 'jwk' }) } }),
  'an unknown kid': () => tokenOf({ head: { kid: 'other' } }),
  'another algorithm': () => tokenOf({ head: { alg: 'PS256' } }),
  'an unknown critical extension': () => tokenOf({ head: { crit: ['x'], x: 1 } }),
  'another issuer': () => tokenOf({ claims: { iss: 'https://evil.example' } }),
  'no issuer': () => tokenOf({ claims: { iss: undefined } }),
  'another audience': () => tokenOf({ claims: { aud: ['https://other.example'] } }),
  'no audience': () => tokenOf({ claims: { aud: undefined } }),
  'over by a second': () => tokenOf({ claims: { exp: seconds(-1) } }),
  'no end': () => tokenOf({ claims: { exp: undefined } }),
  'an end that is text': () => tokenOf({ claims: { exp: '9999999999' } }),
  'not yet valid': () => tokenOf({ claims: { nbf: seconds(30) } }),
  'made in the future': () => tokenOf({ claims: { iat: seconds(300), exp: seconds(600) } }),
  'an ID token': () => tokenOf({ head: { typ: 'JWT' }, claims: { nonce: 'n' } }),
  'a logout token': () => tokenOf({ head: { typ: 'logout+jwt' } }),
  'changed claims': () =>
    tokenOf().replace(/\.[^.]+\./, `.${part({ iss: provider.issuer, aud: resource, sub: 'eve', exp: seconds(60) })}.`),
  'no signature': () => tokenOf().replace(/[^.]+$/, ''),
  'a cut signature': () => tokenOf().slice(0, -4),
  'two parts': () => 'a.b',
  'no JSON': () => 'YQ.YQ.YQ',
  'a megabyte': () => 'a'.repeat(20_000),
};

for (const [name, make] of Object.entries(bad)) {
  test(`refused with 401 without a reason: ${name}`, async () => {
    const plugin = pluginOf();
    const token = make();
    const { response, upstream } = await plugin.request(bearer(token));
    assert.deepEqual([response.status, upstream], [401, null]);
    assert.equal(response.header('www-authenticate'), 'Bearer error="invalid_token"');
    assert.equal(JSON.stringify(plugin.logLines).includes(token), false);
  });
}

test('no token: 401 without an error; two of them: invalid', async () => {
  const none = await pluginOf({ realm: 'api' }).request();
  assert.deepEqual([none.response.status, none.response.header('www-authenticate')], [401, 'Bearer realm="api"']);
  const two = await pluginOf().request({ headers: { Authorization: [`Bearer ${tokenOf()}`, `Bearer ${tokenOf()}`] } });
  assert.equal(two.response.status, 401);
});

test('leeway, issuers_allowed, at_jwt_required', async () => {
  const over = tokenOf({ claims: { exp: seconds(-5) } });
  assert.notEqual((await pluginOf({ leeway: 30 }).request(bearer(over))).upstream, null);
  const other = tokenOf({ claims: { iss: 'https://alias.example' } });
  assert.notEqual(
    (await pluginOf({ issuers_allowed: ['https://alias.example'] }).request(bearer(other))).upstream,
    null,
  );
  assert.equal(
    (await pluginOf({ issuers_allowed: ['https://alias.example'] }).request(bearer(tokenOf()))).upstream,
    null,
  );
  const plain = tokenOf({ head: { typ: 'JWT' } });
  assert.equal((await pluginOf({ at_jwt_required: true }).request(bearer(plain))).response.status, 401);
  assert.notEqual((await pluginOf({ at_jwt_required: true }).request(bearer(tokenOf()))).upstream, null);
});

test('a cached token expires at its exp', async (t) => {
  const plugin = pluginOf();
  const token = tokenOf();
  assert.notEqual((await plugin.request(bearer(token))).upstream, null);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 61_000 });
  assert.equal((await plugin.request(bearer(token))).response.status, 401);
});

test('scopes: 403 with the required ones', async () => {
  const plugin = pluginOf({ scopes_required: ['read write'] });
  const { response } = await plugin.request(bearer(tokenOf()));
  assert.equal(response.status, 403);
  assert.equal(response.header('www-authenticate'), 'Bearer error="insufficient_scope", scope="read write"');
  assert.notEqual((await plugin.request(bearer(tokenOf({ claims: { scope: 'write x read' } })))).upstream, null);
});

test('consumers: required, optional, by several fields, from nested claims; the anonymous one', async () => {
  for (const slowEntities of [false, true]) {
    const entities = { consumers: [{ username: 'nobody' }, { username: 'u', custom_id: 'ada' }] };
    const consumer_claim = ['user', 'name'];
    const token = tokenOf({ claims: { user: { name: 'ada' } } });
    const plugin = pluginOf({ consumer_claim, anonymous: 'nobody' }, { entities, slowEntities });
    assert.equal((await plugin.request(bearer(token))).consumer?.username, 'u');
    assert.equal((await plugin.request(bearer(tokenOf()))).response.status, 403);
    assert.equal((await plugin.request(bearer('bad'))).consumer?.username, 'nobody');
    const optional = pluginOf({ consumer_claim, consumer_optional: true }, { entities, slowEntities });
    assert.equal((await optional.request(bearer(tokenOf()))).upstream?.header('x-consumer-username'), null);
    const proto = pluginOf({ consumer_claim: ['__proto__'] }, { entities, slowEntities });
    assert.equal((await proto.request(bearer(tokenOf()))).response.status, 403);
  }
});

test('claims that a header cannot contain do not fail the request', async () => {
  const config = {
    upstream_headers_claims: ['name', 'sub', 'shape'],
    upstream_headers_names: ['X-Name', 'X-Sub', 'X-Shape'],
    authenticated_groups_claim: ['groups'],
    consumer_claim: ['sub'],
  };
  for (const text of ['a\r\nX-Evil: 1', 'a\nb', 'a\0b', '\x7f', '\ud800', 'Жж', ' a ']) {
    for (const consumer_optional of [false, true]) {
      const plugin = pluginOf({ ...config, consumer_optional });
      const claims = { sub: text, name: text, scope: text, groups: [text], shape: { [text]: text } };
      const { response, upstream } = await plugin.request(bearer(tokenOf({ claims })));
      assert.equal(response.status, consumer_optional ? 200 : 403, JSON.stringify(text));
      assert.equal(upstream?.header('x-evil') ?? null, null);
    }
  }
});

test('a provider that is unavailable at the start is tried again; then its keys are kept', async () => {
  await using own = await startProvider();
  own.available = false;
  const make = () => {
    const text = `${part({ alg: 'RS256', kid: own.key.id })}.${part({ iss: own.issuer, aud: resource, exp: seconds(60), n: Math.random() })}`;
    return bearer(`${text}.${signText(text, own.key.privateKey)}`);
  };
  const plugin = pluginOf({ issuer: own.issuer, cache_ttl: 1 });
  const first = await plugin.request(make());
  assert.deepEqual([first.response.status, first.upstream], [503, null]);
  assert.ok((plugin.counts.get('openid-connect.provider_failures') ?? 0) > 0);
  assert.equal(plugin.logLines[0]?.message, 'the configuration of the OpenID provider cannot be loaded');
  own.available = true;
  const deadline = Date.now() + 10_000;
  let status = 503;
  while (status === 503 && Date.now() < deadline) status = (await plugin.request(make())).response.status;
  assert.equal(status, 200);
  own.available = false;
  for (let round = 0; round < 5; round += 1) assert.equal((await plugin.request(make())).response.status, 200);
});

test('key rotation: an unknown key causes one request, and tokens of the old key are refused', async () => {
  await using own = await startProvider();
  const make = (key = own.key) => {
    const text = `${part({ alg: 'RS256', kid: key.id })}.${part({ iss: own.issuer, aud: resource, exp: seconds(60) })}`;
    return bearer(`${text}.${signText(text, key.privateKey)}`);
  };
  const plugin = pluginOf({ issuer: own.issuer });
  const old = make();
  assert.equal((await plugin.request(old)).response.status, 200);
  own.rotateKey();
  assert.equal((await plugin.request(old)).response.status, 200);
  const fresh = make();
  const all = await Promise.all(Array.from({ length: 10 }, () => plugin.request(fresh)));
  assert.deepEqual(new Set(all.map((one) => one.response.status)), new Set([200]));
  assert.equal((await plugin.request(old)).response.status, 401);
});

test('tokens with invented key ids do not exceed rediscovery_lifetime', async () => {
  const plugin = pluginOf({ rediscovery_lifetime: 60 });
  assert.notEqual((await plugin.request(bearer(tokenOf()))).upstream, null);
  const before = discoveries();
  for (let n = 0; n < 20; n += 1) {
    assert.equal((await plugin.request(bearer(tokenOf({ head: { kid: `k${n}` } })))).response.status, 401);
  }
  assert.equal(discoveries(), before);
});

test('untrusted documents are refused', async () => {
  const issuer = 'ISSUER';
  for (const document of [
    { issuer: 'https://other.example', jwks_uri: 'ISSUER/jwks' },
    { issuer },
    { issuer, jwks_uri: 'file:///etc/passwd' },
    { issuer, jwks_uri: 'ISSUER/symmetric' },
    [],
  ]) {
    await using server = await startBackend({
      handler: (request, response) => {
        const keys = [{ kty: 'oct', k: Buffer.from('secret').toString('base64url'), kid: 'a' }];
        const text = JSON.stringify(request.url === '/symmetric' ? { keys } : document);
        response.end(text.replaceAll('ISSUER', `http://${request.headers.host}`));
      },
    });
    const { response } = await pluginOf({ issuer: server.url }).request(bearer(tokenOf()));
    assert.equal(response.status, 503, JSON.stringify(document));
  }
});

function signText(text: string, key: KeyObject): string {
  return sign('sha256', Buffer.from(text), key).toString('base64url');
}
