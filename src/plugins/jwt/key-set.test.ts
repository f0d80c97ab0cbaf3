import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import jwt from './index.ts';
import { type Members, pairFor, tokenOf } from './tokens.fixture.ts';

const ada = { id: '0a000000-0000-4000-8000-00000000000a', username: 'ada', custom_id: 'c-1', tags: null };
const [first, second] = [pairFor('RS256'), pairFor('ES256')];

let server: Server;
let uri = '';
let fetches = 0;
/** The answer of the issuer: keys, or a text and status; null: no answer. */
let answer: { readonly status: number; readonly body: string } | null = null;

function publish(...keys: readonly Members[]): void {
  answer = { status: 200, body: JSON.stringify({ keys }) };
}

const firstKey = { ...first.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig' };
const secondKey = { ...second.publicKey.export({ format: 'jwk' }), kid: 'two', alg: 'ES256' };

before(async () => {
  server = createServer((_request, response) => {
    fetches++;
    if (answer !== null) response.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  fetches = 0;
  publish(firstKey);
});

function guard(config: Members = {}) {
  return testPlugin(jwt, { config: { jwks_uri: uri, ...config }, entities: { consumers: [ada] } });
}

type Guard = ReturnType<typeof guard>;

const now = (): number => Math.floor(Date.now() / 1000);

function byFirst(claims: Members = {}, header: Members = { kid: 'one' }): string {
  return tokenOf('RS256', first.privateKey, { sub: 'user-7', exp: now() + 600, ...claims }, header);
}

const bySecond = tokenOf('ES256', second.privateKey, { sub: 'user-7', exp: now() + 600 }, { kid: 'two' });

async function status(plugin: Guard, token: string): Promise<number> {
  // Lets running fetches continue.
  await new Promise((resolve) => setImmediate(resolve));
  return (await plugin.request({ headers: { authorization: `Bearer ${token}` } })).response.status;
}

test('fetches keys once, and authenticates the subject of the token', async () => {
  const plugin = guard();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => status(plugin, byFirst({ jti: at }))));
  assert.deepEqual(new Set(answers), new Set([200]));
  assert.equal(fetches, 1);
  const { upstream, consumer } = await plugin.request({ headers: { authorization: `Bearer ${byFirst()}` } });
  assert.equal(consumer, null);
  assert.equal(upstream?.header('x-credential-identifier'), 'user-7');
});

test('fetches an unknown key at most once per cooldown', async () => {
  const plugin = guard({ jwks_cooldown: 1, claims_to_verify: ['exp'] });
  const exp = Math.floor(Date.now() / 1000) + 600;
  const begun = performance.now();
  // On a busy machine the made-up names take longer than a cooldown.
  const allowed = (): number => 1 + Math.floor((performance.now() - begun) / 1000);
  assert.equal(await status(plugin, byFirst({ exp })), 200);
  publish(firstKey, secondKey);
  for (let at = 0; at < 50; at++) {
    const token = tokenOf('RS256', first.privateKey, { exp }, { kid: `unknown-${at}` });
    assert.equal(await status(plugin, token), 401);
  }
  assert.ok(fetches <= allowed(), `made-up names of keys make no fetches: ${fetches}`);
  const token = tokenOf('ES256', second.privateKey, { sub: 'x', exp }, { kid: 'two' });
  const deadline = Date.now() + 5000;
  while ((await status(plugin, token)) !== 200) assert.ok(Date.now() < deadline, 'the new key was never fetched');
  assert.ok(fetches >= 2 && fetches <= allowed(), String(fetches));
});

test('refuses tokens of a withdrawn key, including cached ones', async () => {
  const plugin = guard({ jwks_ttl: 1, jwks_cooldown: 1 });
  const token = byFirst();
  assert.equal(await status(plugin, token), 200);
  publish(secondKey);
  const deadline = Date.now() + 6000;
  while ((await status(plugin, token)) === 200) assert.ok(Date.now() < deadline, 'the old key still counts');
  assert.equal(await status(plugin, bySecond), 200);
});

test('keeps using the keys while the issuer is unavailable; failures are counted and logged', async () => {
  const plugin = guard({ jwks_ttl: 1, jwks_cooldown: 1, jwks_timeout: 2000 });
  assert.equal(await status(plugin, byFirst()), 200);
  answer = { status: 500, body: 'no' };
  const deadline = Date.now() + 6000;
  while ((plugin.counts.get('jwt.jwks_failures') ?? 0) === 0) {
    assert.equal(await status(plugin, byFirst({ jti: Math.random() })), 200);
    assert.ok(Date.now() < deadline, 'nothing was fetched');
  }
  assert.ok(
    plugin.logLines.some(({ level, message }) => level === 'error' && /key set cannot be fetched/.test(message)),
  );
  assert.equal(await status(plugin, byFirst()), 200);
});

test('answers 503 while the issuer has never answered, at once within the cooldown, and recovers', async () => {
  answer = null;
  const plugin = guard({ jwks_timeout: 100, jwks_cooldown: 1 });
  assert.equal(await status(plugin, byFirst()), 503);
  const before = fetches;
  assert.equal(await status(plugin, byFirst()), 503);
  assert.equal(fetches, before, 'the issuer is not asked again');
  publish(firstKey);
  const deadline = Date.now() + 6000;
  while ((await status(plugin, byFirst())) !== 200) assert.ok(Date.now() < deadline, 'it did not heal');
});

for (const [what, body] of [
  ['no JSON', 'rubbish'],
  ['no key set', '{"keys":5}'],
  ['a document beyond the cap', `{"keys":[],"x":"${'y'.repeat(600_000)}"}`],
] as const) {
  test(`treats ${what} as no answer`, async () => {
    answer = { status: 200, body };
    assert.equal(await status(guard(), byFirst()), 503);
  });
}

test('ignores keys that must not be used', async () => {
  const symmetric = { kty: 'oct', kid: 'oct', k: Buffer.from('secret').toString('base64url'), alg: 'HS256' };
  const forEncryption = { ...firstKey, kid: 'enc', use: 'enc' };
  publish(
    symmetric,
    forEncryption,
    { kty: 'RSA', kid: 'broken' },
    { ...firstKey, kid: 'pinned', alg: 'RS512' },
    firstKey,
  );
  const plugin = guard();
  assert.equal(await status(plugin, byFirst()), 200);
  assert.equal(await status(plugin, tokenOf('HS256', 'secret', {}, { kid: 'oct' })), 401);
  assert.equal(await status(plugin, byFirst({}, { kid: 'enc' })), 401);
  assert.equal(await status(plugin, byFirst({}, { kid: 'broken' })), 401);
  assert.equal(await status(plugin, byFirst({}, { kid: 'pinned' })), 401, 'the key says by which algorithm');
  const hmac = tokenOf('HS256', first.pem, {}, { kid: 'one' });
  assert.equal(await status(plugin, hmac), 401, 'a public key is no secret');
});

test('ignores keys that are too short for their algorithm (RFC 7518 3.3)', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  publish(firstKey, { ...publicKey.export({ format: 'jwk' }), kid: 'short' });
  assert.equal(await status(guard(), tokenOf('RS256', privateKey, { exp: now() + 600 }, { kid: 'short' })), 401);
});

test('logs no secret of the URL', async () => {
  answer = { status: 500, body: '' };
  const plugin = guard({ jwks_uri: `${uri.replace('//', '//user:pass@')}?token=abc` });
  assert.equal(await status(plugin, byFirst()), 503);
  const lines = JSON.stringify(plugin.logLines);
  assert.ok(lines.includes(uri));
  assert.doesNotMatch(lines, /user|pass|abc/);
});

test('accepts a token without a key id only if there is one key', async () => {
  const plugin = guard();
  assert.equal(await status(plugin, byFirst({}, {})), 200);
  publish(firstKey, { ...firstKey, kid: 'again' });
  assert.equal(await status(guard(), byFirst({}, {})), 401);
});

async function refusal(plugin: Guard, token: string): Promise<unknown> {
  const { response, upstream } = await plugin.request({ headers: { authorization: `Bearer ${token}` } });
  assert.deepEqual([response.status, upstream], [401, null]);
  return JSON.parse(response.body);
}

test('requires and checks exp, and checks nbf, by default', async () => {
  const plugin = guard();
  const times: readonly (readonly [Members, Members])[] = [
    [{ exp: now() - 1 }, { exp: 'token expired' }],
    [{ exp: undefined }, { exp: 'must be a number' }],
    [{ exp: null }, { exp: 'must be a number' }],
    [{ exp: String(now() + 600) }, { exp: 'must be a number' }],
    [{ nbf: now() + 60 }, { nbf: 'token not valid yet' }],
    [{ nbf: 'now' }, { nbf: 'must be a number' }],
    [{ nbf: null }, { nbf: 'must be a number' }],
  ];
  for (const [claims, problem] of times) {
    const token = byFirst(claims);
    for (let use = 0; use < 2; use++) assert.deepEqual(await refusal(plugin, token), problem, JSON.stringify(claims));
  }
  assert.equal(await status(plugin, byFirst({ nbf: now() })), 200);
  assert.equal(await status(guard({ leeway: 10 }), byFirst({ exp: now() - 5, nbf: now() + 5 })), 200);
});

test('allows a token without exp if configured, but checks an exp that is present', async () => {
  const plugin = guard({ jwks_require_exp: false });
  assert.equal(await status(plugin, byFirst({ exp: undefined })), 200);
  assert.deepEqual(await refusal(plugin, byFirst({ exp: now() - 1 })), { exp: 'token expired' });
});

test('refuses a subject that is not valid in a header', async () => {
  for (const sub of ['a\r\nX-Consumer-Username: bob', 'a\nb', 'a\0', 7, { a: 1 }]) {
    assert.deepEqual(await refusal(guard(), byFirst({ sub })), { message: "Invalid 'sub' in claims" });
  }
});

test('finds the consumer by a claim', async () => {
  const plugin = guard({ consumer_claim: 'client', consumer_by: 'custom_id' });
  const { upstream } = await plugin.request({ headers: { authorization: `Bearer ${byFirst({ client: 'c-1' })}` } });
  assert.equal(upstream?.header('x-consumer-username'), 'ada');
  const { response } = await plugin.request({ headers: { authorization: `Bearer ${byFirst({ client: 'c-2' })}` } });
  assert.equal(response.status, 401);
  assert.equal(response.body, '{"message":"Could not find consumer for \'client=c-2\'"}');
});
