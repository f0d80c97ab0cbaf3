import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as tlsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import { type EchoedRequest, startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { testSettings } from '../../../test/support/settings.ts';

type Fields = Readonly<Record<string, unknown>>;

let gateway: TestGateway;
let backend: TestBackend;
let provisionKey: string;
const resources = new AsyncDisposableStack();
const prefix = mkdtempSync(join(tmpdir(), 'sluicegate-oauth2-'));

before(async () => {
  const [plain] = testSettings({ prefix }).proxyListen;
  const proxyListen = [plain!, { ...plain!, ssl: true }];
  resources.defer(() => rmSync(prefix, { recursive: true }));
  backend = resources.use(await startBackend());
  // Like behind a proxy on the same host that terminates TLS.
  const running = await startTestGateway({
    settings: { prefix, workers: 2, plugins: ['oauth2'], proxyListen, ...selfSigned(), trustedIps: ['127.0.0.1'] },
  });
  gateway = resources.use(running);
  await admin('PUT', '/services/api', { url: backend.url });
  await admin('PUT', '/services/api/routes/api', { paths: ['/api'] });
  await admin('PUT', '/consumers/ada', { custom_id: 'a-1' });
  const plugin = await admin('POST', '/services/api/plugins', {
    name: 'oauth2',
    config: {
      scopes: ['read', 'write'],
      enable_authorization_code: true,
      enable_client_credentials: true,
      accept_http_if_already_terminated: true,
    },
  });
  provisionKey = String((plugin['config'] as Fields)['provision_key']);
});

after(() => resources.disposeAsync());

/** Settings of a TLS listener. */
function selfSigned(): { readonly sslCert: string[]; readonly sslCertKey: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-oauth2-'));
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync(
      'openssl',
      ['req', '-x509', ...ec, '-days', '2', '-subj', '/CN=localhost', '-keyout', key, '-out', cert],
      {
        stdio: 'ignore',
      },
    );
    return { sslCert: [readFileSync(cert, 'utf8')], sslCertKey: [readFileSync(key, 'utf8')] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function admin(method: string, path: string, body?: unknown): Promise<Fields> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function refusal(method: string, path: string, body: unknown): Promise<Fields> {
  const answer = await gateway.admin(method, path, body);
  assert.equal(answer.status, 400);
  return answer.body['fields'] as Fields;
}

let made = 0;

async function newClient(fields: Fields = {}): Promise<Fields> {
  made += 1;
  const uris = { redirect_uris: ['https://app.example/back'] };
  return admin('POST', '/consumers/ada/oauth2', { name: `app-${made}`, ...uris, ...fields });
}

/** Sends a request like a proxy that terminates TLS. */
function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...(init.headers as Record<string, string>), 'X-Forwarded-Proto': 'https' };
  return fetch(gateway.proxyUrl + path, { ...init, headers });
}

/** Acts as the login page after consent of the user. Returns the redirection. */
async function logIn(url: URL, userId: string): Promise<URL> {
  const body = new URLSearchParams(url.search);
  body.set('provision_key', provisionKey);
  body.set('authenticated_userid', userId);
  const answer = await send(url.pathname, { method: 'POST', body });
  const { redirect_uri: uri } = (await answer.json()) as { redirect_uri: string };
  assert.equal(answer.status, 200, uri);
  return new URL(uri);
}

async function call(token: string): Promise<EchoedRequest | number> {
  const answer = await send('/api/x', { headers: { Authorization: `Bearer ${token}` } });
  if (answer.status !== 200) {
    await answer.arrayBuffer();
    return answer.status;
  }
  return (await answer.json()) as EchoedRequest;
}

/** The gateway as the authorization server of a client library. */
function server(): oauth.AuthorizationServer {
  return {
    issuer: 'https://api.example',
    authorization_endpoint: 'https://api.example/api/oauth2/authorize',
    token_endpoint: 'https://api.example/api/oauth2/token',
  };
}

const options = {
  [oauth.customFetch]: (url: string, init: unknown) => send(new URL(url).pathname, init as RequestInit),
};

test('a third-party OAuth client: client credentials', async () => {
  const { client_id, client_secret } = await newClient();
  const client = { client_id: String(client_id) };
  for (const auth of [oauth.ClientSecretBasic(String(client_secret)), oauth.ClientSecretPost(String(client_secret))]) {
    const answer = await oauth.clientCredentialsGrantRequest(server(), client, auth, { scope: 'read' }, options);
    const tokens = await oauth.processClientCredentialsResponse(server(), client, answer);
    assert.equal(tokens.expires_in, 7200);
    const seen = await call(tokens.access_token);
    assert.ok(typeof seen === 'object');
    assert.equal(seen.headers['x-consumer-username'], 'ada');
    assert.equal(seen.headers['x-consumer-custom-id'], 'a-1');
    assert.equal(seen.headers['x-credential-identifier'], client_id);
    assert.equal(seen.headers['x-authenticated-scope'], 'read');
  }
  const wrong = oauth.ClientSecretBasic('wrong');
  const refused = await oauth.clientCredentialsGrantRequest(server(), client, wrong, {}, options);
  await assert.rejects(
    oauth.processClientCredentialsResponse(server(), client, refused),
    oauth.WWWAuthenticateChallengeError,
  );
});

test('a third-party OAuth client: authorization code with PKCE, then refresh', async () => {
  const { client_id } = await newClient({ client_type: 'public' });
  const client = { client_id: String(client_id), token_endpoint_auth_method: 'none' };
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(server().authorization_endpoint ?? '');
  url.search = new URLSearchParams({
    client_id: client.client_id,
    response_type: 'code',
    redirect_uri: 'https://app.example/back',
    scope: 'read write',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  const back = await logIn(url, 'user-7');
  assert.equal(back.origin + back.pathname, 'https://app.example/back');
  const parameters = oauth.validateAuthResponse(server(), client, back, state);
  const uri = 'https://app.example/back';
  const exchange = (proof: string) =>
    oauth.authorizationCodeGrantRequest(server(), client, oauth.None(), parameters, uri, proof, options);
  const tampered = await exchange(oauth.generateRandomCodeVerifier());
  await assert.rejects(oauth.processAuthorizationCodeResponse(server(), client, tampered), { error: 'invalid_grant' });
  const first = await oauth.processAuthorizationCodeResponse(server(), client, await exchange(verifier));
  const seen = await call(first.access_token);
  assert.ok(typeof seen === 'object');
  assert.equal(seen.headers['x-authenticated-userid'], 'user-7');
  assert.equal(seen.headers['x-authenticated-scope'], 'read write');
  const refreshed = await oauth.refreshTokenGrantRequest(
    server(),
    client,
    oauth.None(),
    first.refresh_token ?? '',
    options,
  );
  const second = await oauth.processRefreshTokenResponse(server(), client, refreshed);
  assert.equal(typeof (await call(second.access_token)), 'object');
  assert.equal(await call(first.access_token), 401);
  const again = await oauth.refreshTokenGrantRequest(
    server(),
    client,
    oauth.None(),
    first.refresh_token ?? '',
    options,
  );
  await assert.rejects(oauth.processRefreshTokenResponse(server(), client, again), { error: 'invalid_request' });
});

test('on all workers, at most one of many uses of a code or refresh token gets tokens, which are revoked', async () => {
  const { client_id, client_secret } = await newClient();
  const secret = { client_id: String(client_id), client_secret: String(client_secret) };
  const query = new URLSearchParams({ client_id: secret.client_id, response_type: 'code' });
  const codeGrant = async (): Promise<Readonly<Record<string, string>>> => {
    const back = await logIn(new URL(`https://api.example/api/oauth2/authorize?${query}`), 'user-7');
    return { ...secret, grant_type: 'authorization_code', code: back.searchParams.get('code') ?? '' };
  };
  await raceOf(await codeGrant());
  const answer = await send('/api/oauth2/token', { method: 'POST', body: new URLSearchParams(await codeGrant()) });
  const { refresh_token } = (await answer.json()) as Fields;
  await raceOf({ ...secret, grant_type: 'refresh_token', refresh_token: String(refresh_token) });
  const { data } = await admin('GET', `/oauth2/${client_id}/oauth2_tokens`);
  assert.deepEqual(data, []);
});

/** Sends the same request 24 times concurrently, on separate connections. */
async function raceOf(fields: Readonly<Record<string, string>>): Promise<void> {
  const race = Array.from({ length: 24 }, async () => {
    const headers = { Connection: 'close' };
    const answer = await send('/api/oauth2/token', { method: 'POST', headers, body: new URLSearchParams(fields) });
    return { status: answer.status, fields: (await answer.json()) as Fields };
  });
  const answers = await Promise.all(race);
  const winners = answers.filter(({ status }) => status === 200);
  assert.ok(winners.length <= 1, JSON.stringify(answers.map(({ status }) => status)));
  for (const { status, fields: body } of answers) {
    if (status !== 200) assert.match(String(body['error_description']), /^Invalid (?:code|refresh_token)$/);
  }
}

test('a token is invalid once the Admin API has deleted it or its credential', async () => {
  const { id, client_id, client_secret } = await newClient();
  const take = async (): Promise<string> => {
    const fields = {
      grant_type: 'client_credentials',
      client_id: String(client_id),
      client_secret: String(client_secret),
    };
    const answer = await send('/api/oauth2/token', { method: 'POST', body: new URLSearchParams(fields) });
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  const [first, second] = [await take(), await take()];
  for (const token of [first, second]) {
    for (let use = 0; use < 4; use += 1) assert.equal(typeof (await call(token)), 'object');
  }
  await admin('DELETE', `/oauth2_tokens/${first}`);
  for (let use = 0; use < 4; use += 1) assert.equal(await call(first), 401);
  await admin('DELETE', `/oauth2/${id}`);
  for (let use = 0; use < 4; use += 1) assert.equal(await call(second), 401);
});

test('a reusable refresh token stays valid, and each access token has the whole lifetime', async () => {
  await admin('PUT', '/services/reuse', { url: backend.url });
  await admin('PUT', '/services/reuse/routes/reuse', { paths: ['/reuse'] });
  const config = { enable_password_grant: true, reuse_refresh_token: true, accept_http_if_already_terminated: true };
  await admin('POST', '/services/reuse/plugins', { name: 'oauth2', config: { ...config, provision_key: 'key' } });
  const { client_id, client_secret } = await newClient();
  const post = async (fields: Readonly<Record<string, string>>): Promise<Record<string, string>> => {
    const body = new URLSearchParams({ client_id: String(client_id), client_secret: String(client_secret), ...fields });
    const answer = await send('/reuse/oauth2/token', { method: 'POST', body });
    assert.equal(answer.status, 200);
    return (await answer.json()) as Record<string, string>;
  };
  const first = await post({ grant_type: 'password', provision_key: 'key', authenticated_userid: 'user-7' });
  const path = `/oauth2_tokens/${first['access_token']}`;
  await admin('PATCH', path, { created_at: Math.floor(Date.now() / 1000) - 8000 });
  const use = async (token: string | undefined): Promise<number> => {
    const answer = await send('/reuse', { headers: { Authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  assert.equal(await use(first['access_token']), 401);
  for (let round = 0; round < 2; round += 1) {
    const next = await post({ grant_type: 'refresh_token', refresh_token: first['refresh_token'] ?? '' });
    assert.equal(next['refresh_token'], first['refresh_token']);
    assert.equal(await use(next['access_token']), 200);
    const { ttl } = await admin('GET', `/oauth2_tokens/${next['access_token']}`);
    assert.ok(Number(ttl) > 1_209_000);
  }
});

test('the Admin API creates tokens, too, and shows their remaining lifetime', async () => {
  const { id } = await newClient();
  const made = await admin('POST', `/oauth2/${id}/oauth2_tokens`, { expires_in: 60, ttl: 100 });
  assert.match(String(made['access_token']), /^[A-Za-z0-9]{32}$/);
  assert.deepEqual([made['token_type'], made['refresh_token'], made['credential']], ['bearer', null, { id }]);
  assert.ok(Number(made['ttl']) > 90 && Number(made['ttl']) <= 100);
  assert.deepEqual(await refusal('POST', '/oauth2_tokens', {}), {
    credential: 'required field missing',
    expires_in: 'required field missing',
  });
  // Without a service: valid only with global_credentials.
  assert.equal(await call(String(made['access_token'])), 401);
  const { id: service } = await admin('GET', '/services/api');
  await admin('PATCH', `/oauth2_tokens/${made['access_token']}`, { service: { id: service } });
  assert.equal(typeof (await call(String(made['access_token']))), 'object');
});

test('credentials: errors name the field, and codes have no path', async () => {
  const uris = ['https://a.example/#x', 'nonsense', 'javascript:alert(1)', 'https://a.example/b', 'com.app:/back'];
  const wrong = await refusal('POST', '/consumers/ada/oauth2', { name: 'app', redirect_uris: uris });
  assert.deepEqual(wrong['redirect_uris'], [
    "fragment not allowed in 'https://a.example/#x'",
    "cannot parse 'nonsense'",
    "cannot parse 'javascript:alert(1)'",
  ]);
  assert.deepEqual(await refusal('POST', '/consumers/ada/oauth2', {}), { name: 'required field missing' });
  assert.equal((await gateway.admin('GET', '/oauth2_authorization_codes')).status, 404);
  const found = await newClient();
  assert.equal((await admin('GET', `/oauth2/${found['client_id']}`))['id'], found['id']);
  assert.equal(found['updated_at'], undefined);
});

test('a hashed secret is shown once, works, and survives changes of other fields', async () => {
  const created = await newClient({ hash_secret: true });
  const secret = String(created['client_secret']);
  assert.match(secret, /^[A-Za-z0-9]{32}$/);
  const stored = String((await admin('GET', `/oauth2/${created['id']}`))['client_secret']);
  assert.match(stored, /^\$scrypt\$/);
  const ask = async (client_secret: string): Promise<number> => {
    const fields = { grant_type: 'client_credentials', client_id: String(created['client_id']), client_secret };
    const answer = await send('/api/oauth2/token', { method: 'POST', body: new URLSearchParams(fields) });
    await answer.arrayBuffer();
    return answer.status;
  };
  assert.deepEqual([await ask(secret), await ask(stored), await ask('')], [200, 400, 400]);
  const renamed = await admin('PATCH', `/oauth2/${created['id']}`, { name: 'renamed' });
  assert.equal(renamed['client_secret'], stored);
  assert.equal(await ask(secret), 200);
  await admin('PATCH', `/oauth2/${created['id']}`, { client_secret: 'another' });
  assert.deepEqual([await ask(secret), await ask('another')], [400, 200]);
});

test('TLS to the gateway itself needs no header of a proxy', async () => {
  const { client_id, client_secret } = await newClient();
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: String(client_id),
    client_secret: String(client_secret),
  }).toString();
  const status = await new Promise((resolve, reject) => {
    const target = { host: '127.0.0.1', port: gateway.proxyTlsPort, path: '/api/oauth2/token', method: 'POST' };
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': body.length };
    const sent = tlsRequest({ ...target, headers, rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', reject);
    sent.end(body);
  });
  assert.equal(status, 200);
  const plain = await fetch(`${gateway.proxyUrl}/api/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(body),
  });
  assert.deepEqual(await plain.json(), { error: 'access_denied', error_description: 'You must use HTTPS' });
});

test('no log contains a secret, a code or a token, wherever the client sent it', async () => {
  const { client_id, client_secret } = await newClient();
  const query = new URLSearchParams({ client_id: String(client_id), response_type: 'code' });
  const back = await logIn(new URL(`https://api.example/api/oauth2/authorize?${query}`), 'user-7');
  const code = back.searchParams.get('code') ?? '';
  const asked = new URLSearchParams({ grant_type: 'authorization_code', client_id: String(client_id), code });
  asked.set('client_secret', String(client_secret));
  const answer = await send(`/api/oauth2/token?${asked}&provision_key=${provisionKey}`, { method: 'POST' });
  const tokens = (await answer.json()) as { access_token: string; refresh_token: string };
  assert.equal(answer.status, 200);
  for (const path of [`/api?access_token=${tokens.access_token}`, '/api']) {
    const headers = { Authorization: `Bearer ${tokens.access_token}` };
    await (await send(path, { headers })).arrayBuffer();
  }
  await admin('DELETE', `/oauth2_tokens/${tokens.access_token}`);
  const secrets = [code, provisionKey, String(client_secret), tokens.access_token, tokens.refresh_token];
  await gateway.stop();
  for (const name of ['access.log', 'error.log', 'admin-access.log']) {
    const text = readFileSync(join(prefix, name), 'utf8');
    if (name === 'access.log') assert.match(text, /oauth2\/token/);
    for (const secret of secrets) assert.ok(!text.includes(secret), name);
  }
});
