import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type EchoedRequest, startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { Browser, clients, startProvider, type TestProvider } from '../../../test/support/oidc-provider.ts';

const resource = 'https://api.example';
const opaque = 'https://api.example/opaque';
const resources = new AsyncDisposableStack();
let gateway: TestGateway;
let backend: TestBackend;
let provider: TestProvider;

before(async () => {
  backend = resources.use(await startBackend());
  const plugins = ['openid-connect', 'oauth2-introspection'];
  gateway = resources.use(await startTestGateway({ settings: { workers: 2, plugins } }));
  provider = resources.use(await startProvider({ redirectUri: `${gateway.proxyUrl}/app/callback` }));
  await admin('PUT', '/consumers/the-machine', { custom_id: 'machine' });
  await admin('PUT', '/consumers/ada', {});
  for (const name of ['api', 'app', 'opaque']) {
    await admin('PUT', `/services/${name}`, { url: backend.url });
    await admin('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
  }
  const { issuer } = provider;
  await plug('api', 'openid-connect', {
    issuer,
    audience_required: [resource],
    consumer_claim: ['client_id'],
    consumer_by: ['custom_id'],
  });
  await plug('app', 'openid-connect', {
    issuer,
    auth_methods: ['authorization_code', 'session'],
    client_id: [clients.gateway.id],
    client_secret: [clients.gateway.secret],
    redirect_uri: [`${gateway.proxyUrl}/app/callback`],
    consumer_claim: ['sub'],
    logout_path: '/app/logout',
  });
  await plug('opaque', 'oauth2-introspection', {
    introspection_url: `${issuer}/token/introspection`,
    client_id: clients.machine.id,
    client_secret: clients.machine.secret,
    consumer_by: 'client_id',
  });
});

after(() => resources.disposeAsync());

async function admin(method: string, path: string, body?: unknown): Promise<void> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

const plug = (service: string, name: string, config: unknown) =>
  admin('POST', `/services/${service}/plugins`, { name, config });

/** Each request has a separate connection, so any worker may get it. */
async function ask(path: string, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(gateway.proxyUrl + path, {
    redirect: 'manual',
    headers: { ...headers, Connection: 'close' },
  });
  const text = await answer.text();
  return { status: answer.status, echo: answer.status === 200 ? (JSON.parse(text) as EchoedRequest) : null };
}

for (const [path, kind] of [
  ['/api', resource],
  ['/opaque', opaque],
] as const) {
  test(`${path}: a token of the provider authenticates its consumer on every worker`, async () => {
    const headers = { Authorization: `Bearer ${await provider.clientToken(kind)}`, 'X-Consumer-Username': 'forged' };
    for (let round = 0; round < 8; round += 1) {
      const { status, echo } = await ask(path, headers);
      assert.deepEqual([status, echo?.headers['x-consumer-username']], [200, 'the-machine']);
    }
    assert.equal((await ask(path, {})).status, 401);
    assert.equal((await ask(path, { Authorization: 'Bearer wrong' })).status, 401);
  });
}

test('tokens of a deleted consumer are refused', async () => {
  const headers = { Authorization: `Bearer ${await provider.clientToken(resource)}` };
  assert.equal((await ask('/api', headers)).status, 200);
  await admin('DELETE', '/consumers/the-machine');
  for (let round = 0; round < 4; round += 1) assert.equal((await ask('/api', headers)).status, 403);
  await admin('PUT', '/consumers/the-machine', { custom_id: 'machine' });
  for (let round = 0; round < 4; round += 1) assert.equal((await ask('/api', headers)).status, 200);
});

test('a browser logs in, is authenticated by every worker, and logs out', async () => {
  const browser = new Browser();
  const first = await browser.open(`${gateway.proxyUrl}/app/page?a=1`);
  assert.equal(first.status, 302);
  const callback = await browser.logIn(first.headers.get('location') ?? '', 'ada');
  const seen = backend.requests.length;
  const back = await browser.open(callback);
  assert.deepEqual([back.status, back.headers.get('location')], [302, `${gateway.proxyUrl}/app/page?a=1`]);
  assert.equal(backend.requests.length, seen);
  for (let round = 0; round < 8; round += 1) {
    const { status, echo } = await ask('/app/page', { Cookie: browser.cookieHeader(gateway.proxyUrl) });
    assert.deepEqual([status, echo?.headers['x-consumer-username'], echo?.headers.cookie], [200, 'ada', undefined]);
  }
  const copy = browser.cookieHeader(gateway.proxyUrl);
  const out = await browser.open(`${gateway.proxyUrl}/app/logout`, { method: 'POST' });
  assert.equal(out.status, 303);
  assert.ok(out.headers.get('location')?.startsWith(`${provider.issuer}/session/end?`));
  assert.equal(browser.cookies(gateway.proxyUrl).size, 0);
  for (const headers of [{}, ...Array.from({ length: 8 }, () => ({ Cookie: copy }))]) {
    const { status } = await ask('/app/page', { Accept: 'application/json', ...headers });
    assert.equal(status, 401);
  }
});

test('an expired token is refreshed once by all workers', async () => {
  const redirectUri = `${gateway.proxyUrl}/short/callback`;
  await using short = await startProvider({ redirectUri, accessTokenLifetime: 1 });
  await admin('PUT', '/services/short', { url: backend.url });
  await admin('PUT', '/services/short/routes/short', { paths: ['/short'] });
  await plug('short', 'openid-connect', {
    issuer: short.issuer,
    auth_methods: ['authorization_code'],
    client_id: [clients.gateway.id],
    client_secret: [clients.gateway.secret],
    redirect_uri: [redirectUri],
  });
  const browser = new Browser();
  const first = await browser.open(`${gateway.proxyUrl}/short`);
  await browser.open(await browser.logIn(first.headers.get('location') ?? '', 'ada'));
  const headers = { Cookie: browser.cookieHeader(gateway.proxyUrl) };
  const round = async (): Promise<readonly unknown[]> => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => ask('/short', headers)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    return [...new Set(answers.map(({ echo }) => echo?.headers.authorization))];
  };
  const tokenRequests = (): number => short.requests.filter((line) => line === 'POST /token').length;
  const tokens = new Set<unknown>();
  const deadline = Date.now() + 10_000;
  while (tokenRequests() < 2 && Date.now() < deadline) for (const token of await round()) tokens.add(token);
  const settled = await round();
  assert.equal(settled.length, 1);
  assert.ok(tokens.add(settled[0]).size <= 2, 'the token of the sign-in and the refreshed one');
  assert.equal(tokenRequests(), 2);
});
