import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, clients, startProvider, type TestProvider } from '../../../test/support/oidc-provider.ts';
import { sealer } from '../../plugin-kit/auth/index.ts';
import { EntityAccessError } from '../../plugin-sdk/index.ts';
import { type TestOutcome, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import openId from './index.ts';

const home = 'http://test.example';
const resource = 'https://api.example';
let provider: TestProvider;

before(async () => {
  provider = await startProvider();
});
after(() => provider.close());

const usual = {
  auth_methods: ['bearer', 'authorization_code', 'session'],
  client_id: [clients.gateway.id],
  client_secret: [clients.gateway.secret],
  redirect_uri: [`${home}/callback`],
  scopes: ['openid', 'read'],
  session_secret: 'a secret of the tests, long enough to be one',
  authorization_query_args_names: ['resource'],
  authorization_query_args_values: [resource],
  logout_path: '/logout',
  logout_redirect_uri: [`${home}/`],
};

function pluginOf(config: Readonly<Record<string, unknown>> = {}, more: Parameters<typeof testPlugin>[1] = {}) {
  return testPlugin(openId, { ...more, config: { issuer: provider.issuer, ...usual, ...config } });
}

type Plugin = ReturnType<typeof pluginOf>;

/** Sends a request with the cookies of the browser. */
async function send(plugin: Plugin, browser: Browser, path: string, request: TestRequest = {}): Promise<TestOutcome> {
  const cookie = browser.cookieHeader(home);
  const headers = { Accept: 'text/html', ...(cookie === '' ? {} : { Cookie: cookie }), ...request.headers };
  const outcome = await plugin.request({ ...request, path, headers });
  browser.keep(home, outcome.response.headers['set-cookie'] ?? []);
  return outcome;
}

/** The path of the callback, with the code. */
async function callbackOf(plugin: Plugin, browser: Browser, path = '/page?a=1'): Promise<string> {
  const { response, upstream } = await send(plugin, browser, path);
  assert.deepEqual([response.status, upstream], [302, null]);
  const url = await browser.logIn(response.header('location') ?? '', 'ada');
  return url.slice(home.length);
}

async function loggedIn(plugin: Plugin): Promise<Browser> {
  const browser = new Browser();
  const { response } = await send(plugin, browser, await callbackOf(plugin, browser));
  assert.deepEqual([response.status, response.header('location')], [302, `${home}/page?a=1`]);
  return browser;
}

test('the login request: PKCE, state, nonce, and an encrypted cookie', async () => {
  const { response } = await send(pluginOf(), new Browser(), '/page');
  assert.equal(response.header('cache-control'), 'no-store');
  const url = new URL(response.header('location') ?? '');
  assert.equal(url.origin, provider.issuer);
  const { state, nonce, code_challenge: challenge, ...rest } = Object.fromEntries(url.searchParams);
  for (const value of [state, nonce, challenge]) assert.match(value ?? '', /^[\w-]{43}$/);
  assert.deepEqual(rest, {
    response_type: 'code',
    client_id: 'gateway',
    redirect_uri: `${home}/callback`,
    scope: 'openid read',
    code_challenge_method: 'S256',
    resource,
  });
  const [cookie = ''] = response.headers['set-cookie'] ?? [];
  assert.match(cookie, /^authorization=1\.[\w-]+; Path=\/; Max-Age=600; SameSite=Lax; HttpOnly$/);
});

test('a login, and the headers of the backend', async () => {
  const plugin = pluginOf(
    { consumer_claim: ['sub'], upstream_headers_claims: ['iss'], upstream_headers_names: ['X-Issuer'] },
    { entities: { consumers: [{ username: 'ada' }] } },
  );
  const browser = await loggedIn(plugin);
  assert.deepEqual([...browser.cookies(home).keys()], ['session']);
  const { upstream, consumer } = await send(plugin, browser, '/page', {
    headers: { Cookie: `theme=dark; ${browser.cookieHeader(home)}`, 'X-Issuer': 'forged' },
  });
  assert.equal(consumer?.username, 'ada');
  assert.equal(upstream?.header('x-credential-identifier'), 'ada');
  assert.deepEqual(upstream?.headers['x-issuer'], [provider.issuer]);
  assert.equal(upstream?.header('cookie'), 'theme=dark');
  assert.match(upstream?.header('authorization') ?? '', /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
  const hidden = await send(pluginOf({ hide_credentials: true }), browser, '/page');
  assert.equal(hidden.upstream?.header('authorization'), null);
});

test('scripts and other methods get 401, not a redirect', async () => {
  const plugin = pluginOf();
  for (const request of [
    { headers: { Accept: 'application/json' } },
    { headers: { Accept: 'text/html', 'X-Requested-With': 'XMLHttpRequest' } },
    { headers: { Accept: 'text/html', 'Sec-Fetch-Mode': 'cors' } },
    { headers: { Accept: 'text/html' }, method: 'POST' },
  ]) {
    assert.equal((await plugin.request(request)).response.status, 401);
  }
  const all = pluginOf({ login_for_browsers_only: false });
  assert.equal((await all.request({ headers: { Accept: 'application/json' } })).response.status, 302);
  const only = pluginOf({ auth_methods: ['session'] });
  assert.equal((await only.request({ headers: { Accept: 'text/html' } })).response.status, 401);
});

test('no redirect leads to another host', async () => {
  const plugin = pluginOf();
  for (const path of ['//evil.example/x', '/\\evil.example', '/@evil.example', '/.evil.example']) {
    const browser = new Browser();
    const callback = await callbackOf(plugin, browser, path);
    const { response } = await send(plugin, browser, callback, { headers: { Host: 'evil.example' } });
    assert.equal(new URL(response.header('location') ?? '').origin, home);
  }
});

test('a callback without the login of this browser is refused, without a session', async () => {
  const plugin = pluginOf();
  const mine = new Browser();
  const theirs = new Browser();
  const foreign = await callbackOf(plugin, theirs);
  const own = await callbackOf(plugin, mine);
  const state = new URLSearchParams(own.split('?')[1]).get('state') ?? '';
  const tampered = own.replace(state, `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`);
  for (const [path, browser] of [
    [foreign, mine],
    [own, new Browser()],
    [tampered, mine],
    [own.replace(/state=[^&]+&?/, ''), mine],
    [`${own}&state=${state}`, mine],
    [foreign.replace(/state=[^&]+/, `state=${state}`).replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'), mine],
  ] as const) {
    const { response, upstream } = await send(plugin, browser, path);
    assert.deepEqual([response.status, upstream], [401, null], path);
    assert.equal(browser.cookies(home).has('session'), false);
  }
});

test('the code of another login with the own state: the verifier does not match', async () => {
  const plugin = pluginOf();
  const mine = new Browser();
  const stolen = new URLSearchParams((await callbackOf(plugin, new Browser())).split('?')[1]).get('code') ?? '';
  const own = await callbackOf(plugin, mine);
  const { response } = await send(plugin, mine, own.replace(/code=[^&]+/, `code=${stolen}`));
  assert.equal(response.status, 401);
  assert.equal(mine.cookies(home).has('session'), false);
});

test('a callback can be used once, and an error of the provider is a 401', async () => {
  const plugin = pluginOf();
  const browser = new Browser();
  const callback = await callbackOf(plugin, browser);
  const before = browser.cookieHeader(home);
  assert.equal((await send(plugin, browser, callback)).response.status, 302);
  assert.equal((await send(plugin, new Browser(), callback, { headers: { Cookie: before } })).response.status, 401);
  const again = new Browser();
  const { response } = await send(plugin, again, '/page');
  const state = new URL(response.header('location') ?? '').searchParams.get('state');
  const iss = encodeURIComponent(provider.issuer);
  const refused = await send(plugin, again, `/callback?error=access_denied&state=${state}&iss=${iss}`);
  assert.equal(refused.response.status, 401);
});

test('several tabs log in at once', async () => {
  const plugin = pluginOf();
  const browser = new Browser();
  const first = await callbackOf(plugin, browser, '/one');
  const second = await callbackOf(plugin, browser, '/two');
  assert.equal((await send(plugin, browser, first)).response.header('location'), `${home}/one`);
  assert.equal((await send(plugin, browser, second)).response.header('location'), `${home}/two`);
});

test('cookies that were changed, swapped or encrypted with another secret are ignored', async () => {
  const plugin = pluginOf();
  const browser = await loggedIn(plugin);
  const value = browser.cookies(home).get('session') ?? '';
  const other = await loggedIn(pluginOf({ session_secret: 'another secret of the tests, as long' }));
  const waiting = new Browser();
  await send(plugin, waiting, '/page');
  for (const cookie of [
    `${value.slice(0, 40)}${value[40] === 'A' ? 'B' : 'A'}${value.slice(41)}`,
    value.slice(0, -1),
    '1.',
    '',
    other.cookies(home).get('session') ?? '',
    waiting.cookies(home).get('authorization') ?? '',
  ]) {
    const { response } = await plugin.request({ headers: { Accept: '*/*', Cookie: `session=${cookie}` } });
    assert.equal(response.status, 401);
  }
  assert.equal((await plugin.request({ headers: { Cookie: `session=${value}` } })).response.status, 200);
});

test('an expired access token is refreshed once for all concurrent requests', async (t) => {
  const plugin = pluginOf();
  const browser = await loggedIn(plugin);
  const tokenRequests = () => provider.requests.filter((line) => line === 'POST /token').length;
  const old = (await send(plugin, browser, '/page')).upstream?.header('authorization');
  const before = tokenRequests();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 700_000 });
  const cookie = browser.cookieHeader(home);
  const request = { headers: { Accept: '*/*', Cookie: cookie } };
  const all = await Promise.all(Array.from({ length: 8 }, () => plugin.request(request)));
  const tokens = new Set(all.map(({ upstream }) => upstream?.header('authorization')));
  assert.deepEqual([tokens.size, tokens.has(old), tokens.has(undefined)], [1, false, false]);
  assert.equal(tokenRequests(), before + 1);
  browser.keep(home, all[0]?.response.headers['set-cookie'] ?? []);
  assert.notEqual(browser.cookieHeader(home), cookie);
  const next = await send(plugin, browser, '/page');
  assert.equal(tokens.has(next.upstream?.header('authorization')), true);
  assert.equal(tokenRequests(), before + 1);
});

test('a refused refresh token leads to a new login', async (t) => {
  const plugin = pluginOf();
  const browser = await loggedIn(plugin);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 700_000 });
  // A new provider at the same address, which knows no logins.
  provider.rotateKey();
  const { response } = await send(plugin, browser, '/page');
  assert.equal(response.status, 302);
  assert.equal((await send(plugin, browser, '/page', { headers: { Accept: '*/*' } })).response.status, 401);
});

test('a session ends when it is idle, and after its absolute timeout; use extends it', async (t) => {
  const plugin = pluginOf({ session_idling_timeout: 300, session_absolute_timeout: 600 });
  const browser = await loggedIn(plugin);
  const start = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: start });
  const at = async (seconds: number, kept = browser.cookieHeader(home)) => {
    t.mock.timers.setTime(start + seconds * 1000);
    return (await send(plugin, browser, '/page', { headers: { Cookie: kept } })).response.status;
  };
  const first = browser.cookieHeader(home);
  assert.equal(await at(200), 200);
  assert.equal(await at(400, first), 302);
  assert.equal(await at(450), 200);
  assert.equal(await at(601), 302);
});

test('logout at the gateway and at the provider', async () => {
  const plugin = pluginOf();
  const browser = await loggedIn(plugin);
  assert.equal((await send(plugin, browser, '/logout')).upstream === null, false);
  const { response, upstream } = await send(plugin, browser, '/logout', { method: 'POST' });
  assert.deepEqual([response.status, upstream], [303, null]);
  assert.equal(browser.cookies(home).has('session'), false);
  const url = new URL(response.header('location') ?? '');
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${home}/`);
  assert.match(await (await browser.open(url.href)).text(), /logout/i);
  const without = await send(plugin, new Browser(), '/logout', { method: 'POST' });
  assert.deepEqual([without.response.status, without.response.header('location')], [303, `${home}/`]);
  assert.equal(without.response.header('set-cookie'), null);
});

test('a logout revokes every copy of the cookie, including refreshed and extended ones', async (t) => {
  const plugin = pluginOf();
  const browser = await loggedIn(plugin);
  const copies = [browser.cookieHeader(home)];
  const start = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: start });
  for (const seconds of [100, 700]) {
    t.mock.timers.setTime(start + seconds * 1000);
    assert.equal((await send(plugin, browser, '/page')).response.status, 200);
    copies.push(browser.cookieHeader(home));
  }
  assert.equal(new Set(copies).size, 3);
  assert.equal((await send(plugin, browser, '/logout', { method: 'POST' })).response.status, 303);
  t.mock.timers.setTime(start + 800_000);
  for (const copy of copies) {
    const { response, upstream } = await plugin.request({ path: '/page', headers: { Cookie: copy } });
    assert.deepEqual([response.status, upstream], [401, null]);
  }
});

test('a logout that cannot be stored is a 503, and removes the cookie of the browser', async () => {
  const plugin = pluginOf();
  const browser = await loggedIn(plugin);
  plugin.entities.insert = () => Promise.reject(new EntityAccessError('unavailable', 'the store is unavailable'));
  assert.equal((await send(plugin, browser, '/logout', { method: 'POST' })).response.status, 503);
  assert.equal(browser.cookies(home).has('session'), false);
});

test('sealed cookie content that is not a session is ignored', async () => {
  const { session_secret: secret, client_id: client } = usual;
  const purpose = `openid-connect\0${provider.issuer}\0${client[0]}\0default`;
  const plugin = pluginOf();
  for (const name of ['session', 'authorization']) {
    for (const text of ['', '{', 'null', '[]', '[null]', '{"login":"a"}', '"text"', '{"idToken":"a.b.c"}']) {
      const sealed = sealer(secret, `${purpose}\0${name}`).seal(text, Math.floor(Date.now() / 1000) + 60);
      const headers = { Cookie: `${name}=1.${sealed}`, Accept: 'text/html' };
      for (const path of ['/page', '/callback?code=a&state=b', '/logout']) {
        const method = path === '/logout' ? 'POST' : 'GET';
        const { response, upstream } = await plugin.request({ method, path, headers });
        assert.ok(response.status < 500 && upstream === null, `${name} ${text} ${path}: ${response.status}`);
      }
    }
  }
});

test('while the provider is unavailable, sessions continue; logins and refreshes are 503', async (t) => {
  const plugin = pluginOf();
  const browser = await loggedIn(plugin);
  const waiting = new Browser();
  const callback = await callbackOf(plugin, waiting);
  provider.available = false;
  try {
    assert.equal((await send(plugin, browser, '/page')).response.status, 200);
    assert.equal((await send(plugin, waiting, callback)).response.status, 503);
    assert.equal((await send(pluginOf(), new Browser(), '/page')).response.status, 503);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 700_000 });
    assert.equal((await send(plugin, browser, '/page')).response.status, 503);
    assert.equal(browser.cookies(home).has('session'), true);
  } finally {
    provider.available = true;
  }
  assert.equal((await send(plugin, browser, '/page')).response.status, 200);
});

test('the error log contains no token, code or secret', async () => {
  const plugin = pluginOf({ client_secret: ['wrong-secret'] });
  const browser = new Browser();
  const callback = await callbackOf(plugin, browser);
  assert.equal((await send(plugin, browser, callback)).response.status, 503);
  const text = JSON.stringify(plugin.logLines);
  assert.match(text, /does not accept/);
  const code = new URLSearchParams(callback.split('?')[1]).get('code') ?? 'none';
  assert.deepEqual([text.includes('wrong-secret'), text.includes(code)], [false, false]);
});

test('a bearer token takes precedence over the session', async () => {
  const plugin = pluginOf();
  const browser = await loggedIn(plugin);
  const { response } = await send(plugin, browser, '/page', { headers: { Authorization: 'Bearer bad' } });
  assert.equal(response.status, 401);
});
