import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { authAccess, sealer } from '../../plugin-kit/auth/index.ts';
import { type AccessContext, definePlugin, EntityAccessError, httpProtocols, refuse } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type PluginTest, type TestOutcome, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import session from './index.ts';

type Config = Readonly<Record<string, unknown>>;

const secret = 'a secret of the tests, thirty-two+';
const ada = { id: '5a1b0f0e-0000-4000-8000-000000000001', username: 'ada', custom_id: null, tags: null };
const bob = { id: '5a1b0f0e-0000-4000-8000-000000000002', username: 'bob', custom_id: null, tags: null };
const nobody = { id: '5a1b0f0e-0000-4000-8000-000000000003', username: 'nobody', custom_id: null, tags: null };

/** Authenticates the consumer in `X-User`; `anonymous` is set, so that a session can replace it. */
const door = definePlugin<Record<string, never>>({
  name: 'door',
  version: '1.0.0',
  priority: 1100,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: (_, tools) => {
    const attempt = async (context: AccessContext) => {
      const name = context.request.header('x-user');
      const consumer = name === null ? null : await tools.entities.consumer(name);
      if (consumer === null) return refuse(401, 'Unauthorized');
      const groups = context.request.header('x-groups')?.split(',') ?? null;
      context.authenticate(consumer, { id: `key-of-${name}`, identifier: name }, { groups, scopes: ['read'] });
      return undefined;
    };
    return { access: authAccess(tools, { anonymous: 'nobody', attempt }) };
  },
});

/** Sends the identity to the backend, as an authorization plugin would see it. */
const witness = definePlugin<Record<string, never>>({
  name: 'witness',
  version: '1.0.0',
  priority: 900,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({
    access({ client, upstream }) {
      upstream.setHeader('X-Seen', JSON.stringify([client.credential?.id ?? null, client.details]));
      return undefined;
    },
  }),
});

function start(config: Config = {}, entities = {}): PluginTest {
  return testPlugin(session, {
    config: { secret, ...config },
    otherPlugins: [{ plugin: door }, { plugin: witness }],
    entities: { consumers: [ada, bob, nobody], sessions: [], ...entities },
  });
}

/** A browser: stores the cookies that it receives. */
class Browser {
  readonly jar = new Map<string, string>();
  readonly #gate: PluginTest;

  constructor(gate: PluginTest) {
    this.#gate = gate;
  }

  async ask(request: TestRequest = {}): Promise<TestOutcome> {
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie === '' ? {} : { Cookie: cookie }), ...request.headers };
    const outcome = await this.#gate.request({ ...request, headers });
    for (const line of setCookies(outcome)) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; Max-Age=0\b/.test(line)) this.jar.delete(name);
      else this.jar.set(name, value);
    }
    return outcome;
  }

  async logIn(user = 'ada', headers: Readonly<Record<string, string>> = {}): Promise<TestOutcome> {
    const outcome = await this.ask({ headers: { 'X-User': user, ...headers } });
    assert.ok(this.jar.has('session'));
    return outcome;
  }
}

/** Resolves when the background work of a request is done. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function setCookies({ response }: TestOutcome): readonly string[] {
  return response.headers['set-cookie'] ?? [];
}

/** Counts the rows of an entity that are inserted from now on. */
function countRows(gate: PluginTest, entity: string): () => number {
  let count = 0;
  const insert = gate.entities.insert.bind(gate.entities);
  gate.entities.insert = (name, fields) => {
    if (name === entity) count += 1;
    return insert(name, fields);
  };
  return () => count;
}

function user(outcome: TestOutcome): string | null {
  return outcome.consumer?.username ?? null;
}

function atTime(t: TestContext): (seconds: number) => void {
  t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 });
  return (seconds) => t.mock.timers.tick(seconds * 1000);
}

for (const storage of ['cookie', 'kong']) {
  test(`${storage}: a login authenticates later requests, with credential, groups and scopes`, async () => {
    const browser = new Browser(start({ storage }));
    await browser.logIn('ada', { 'X-Groups': 'staff,admin' });
    const { upstream, ...outcome } = await browser.ask();
    assert.equal(user({ upstream, ...outcome }), 'ada');
    assert.equal(upstream?.header('x-consumer-username'), 'ada');
    assert.equal(upstream?.header('x-credential-identifier'), 'key-of-ada');
    assert.equal(upstream?.header('x-anonymous-consumer'), null);
    const details = { groups: ['staff', 'admin'], scopes: ['read'], claims: null };
    assert.deepEqual(JSON.parse(upstream?.header('x-seen') ?? ''), ['key-of-ada', details]);
    assert.deepEqual(setCookies({ upstream, ...outcome }), []);
  });

  test(`${storage}: the anonymous consumer gets no session`, async () => {
    const outcome = await new Browser(start({ storage })).ask();
    assert.equal(user(outcome), 'nobody');
    assert.deepEqual(setCookies(outcome), []);
  });

  test(`${storage}: a login starts a new session, even if the client has one`, async () => {
    const gate = start({ storage });
    const attacker = new Browser(gate);
    await attacker.logIn('bob');
    const victim = new Browser(gate);
    const planted = attacker.jar.get('session')!;
    victim.jar.set('session', planted);
    const outcome = await gate.request({ headers: { Cookie: `session=${planted}x`, 'X-User': 'ada' } });
    assert.equal(setCookies(outcome).length, 1);
    assert.ok(!setCookies(outcome)[0]!.includes(planted));
    assert.equal(user(await attacker.ask()), 'bob');
  });

  test(`${storage}: a cookie that was changed, or has another secret or audience, is ignored`, async () => {
    const browser = new Browser(start({ storage }));
    await browser.logIn();
    const good = browser.jar.get('session')!;
    for (let at = 0; at < good.length; at += 7) {
      const changed = good.slice(0, at) + (good[at] === 'A' ? 'B' : 'A') + good.slice(at + 1);
      browser.jar.set('session', changed);
      const outcome = await browser.ask();
      assert.equal(user(outcome), 'nobody', String(at));
      assert.equal(outcome.response.status, 200);
    }
    for (const other of [{ secret: `${secret}!` }, { audience: 'another' }, { cookie_name: 'x' }]) {
      const elsewhere = new Browser(start({ storage, ...other }));
      elsewhere.jar.set('cookie_name' in other ? 'x' : 'session', good);
      assert.equal(user(await elsewhere.ask()), 'nobody');
    }
  });

  test(`${storage}: the cookie of a deleted consumer is ignored`, async () => {
    const gate = start({ storage });
    const browser = new Browser(gate);
    await browser.logIn();
    await gate.entities.delete('consumers', ada.id);
    assert.equal(user(await browser.ask()), 'nobody');
  });

  test(`${storage}: idling, rolling and absolute timeouts end a session on time`, async (t) => {
    const pass = atTime(t);
    const only = { idling_timeout: 0, rolling_timeout: 0, absolute_timeout: 0 };
    for (const name of Object.keys(only)) {
      const gate = start({ storage, ...only, [name]: 100 });
      const [early, late] = [new Browser(gate), new Browser(gate)];
      await early.logIn();
      await late.logIn();
      pass(99);
      assert.equal(user(await early.ask()), 'ada', name);
      pass(1);
      assert.equal(user(await late.ask()), 'nobody', name);
    }
  });

  test(`${storage}: use keeps a session alive, but not beyond its absolute timeout`, async (t) => {
    const pass = atTime(t);
    const times = { idling_timeout: 100, rolling_timeout: 400, absolute_timeout: 1000 };
    const browser = new Browser(start({ storage, ...times }));
    await browser.logIn();
    for (let at = 0; at < 990; at += 90) {
      assert.equal(user(await browser.ask()), 'ada', String(at));
      pass(90);
    }
    assert.equal(user(await browser.ask()), 'ada');
    pass(10);
    assert.equal(user(await browser.ask()), 'nobody');
  });

  test(`${storage}: the time of the last use is stored at intervals`, async (t) => {
    const pass = atTime(t);
    const browser = new Browser(start({ storage }));
    await browser.logIn();
    pass(59);
    assert.deepEqual(setCookies(await browser.ask()), []);
    pass(1);
    assert.equal(setCookies(await browser.ask()).length, 1);
    assert.deepEqual(setCookies(await browser.ask()), []);
  });

  test(`${storage}: logout answers 200 without a body and removes the cookie`, async () => {
    const gate = start({ storage });
    for (const method of ['POST', 'DELETE']) {
      const browser = new Browser(gate);
      await browser.logIn();
      const { response, upstream } = await browser.ask({ method, path: '/?session_logout=true' });
      assert.deepEqual([response.status, response.body, upstream], [200, '', null]);
      assert.equal(browser.jar.size, 0);
      assert.equal(user(await browser.ask()), 'nobody');
    }
  });

  test(`${storage}: other methods and other arguments do not log out, nor does a request without a session`, async () => {
    const gate = start({ storage });
    const browser = new Browser(gate);
    await browser.logIn();
    for (const request of [
      { path: '/?session_logout=true' },
      { method: 'POST', path: '/?logout=true' },
      { method: 'POST', path: '/session_logout' },
    ]) {
      assert.equal(user(await browser.ask(request)), 'ada');
    }
    const { upstream } = await new Browser(gate).ask({ method: 'POST', path: '/?session_logout=true' });
    assert.notEqual(upstream, null);
  });

  test(`${storage}: a body requests a logout only with read_body_for_logout`, async () => {
    const request: TestRequest = {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'session_logout=1',
    };
    const deaf = new Browser(start({ storage }));
    await deaf.logIn();
    assert.equal(user(await deaf.ask(request)), 'ada');
    const browser = new Browser(start({ storage, read_body_for_logout: true }));
    await browser.logIn();
    assert.equal(user(await browser.ask({ ...request, body: 'other=1' })), 'ada');
    assert.equal((await browser.ask(request)).upstream, null);
    assert.equal(browser.jar.size, 0);
  });

  test(`${storage}: remember outlives the session, and a logout ends both`, async (t) => {
    const pass = atTime(t);
    const browser = new Browser(start({ storage, remember: true }));
    const first = await browser.logIn();
    const remember = setCookies(first).find((line) => line.startsWith('remember='));
    assert.match(remember ?? '', /; Max-Age=604800;/);
    assert.doesNotMatch(setCookies(first).find((line) => line.startsWith('session=')) ?? '', /Max-Age/);
    pass(500_000);
    const again = await browser.ask();
    assert.equal(user(again), 'ada');
    assert.equal(setCookies(again).length, 2);
    pass(500_000);
    browser.jar.delete('session');
    assert.equal(user(await browser.ask()), 'ada');
    assert.equal((await browser.ask({ method: 'POST', path: '/?session_logout' })).upstream, null);
    assert.equal(browser.jar.size, 0);
    assert.equal(user(await browser.ask()), 'nobody');
  });

  test(`${storage}: remember has its own absolute timeout`, async (t) => {
    const pass = atTime(t);
    const times = { remember_rolling_timeout: 100_000, remember_absolute_timeout: 250_000 };
    const browser = new Browser(start({ storage, remember: true, ...times }));
    await browser.logIn();
    for (const step of [90_000, 90_000, 69_000]) {
      pass(step);
      assert.equal(user(await browser.ask()), 'ada');
    }
    pass(90_000);
    assert.equal(user(await browser.ask()), 'nobody');
  });
}

for (const storage of ['cookie', 'kong']) {
  test(`${storage}: a logout ends every copy of the cookies, renewed ones included`, async (t) => {
    const pass = atTime(t);
    const gate = start({ storage, remember: true });
    const browser = new Browser(gate);
    await browser.logIn();
    const copies = [new Map(browser.jar)];
    pass(800);
    assert.equal(setCookies(await browser.ask()).length, 1);
    copies.push(new Map(browser.jar));
    await browser.ask({ method: 'POST', path: '/?session_logout' });
    for (const copy of copies) {
      for (const [name, value] of copy) {
        assert.equal(user(await gate.request({ headers: { Cookie: `${name}=${value}` } })), 'nobody', name);
      }
    }
    await browser.logIn();
    assert.equal(user(await browser.ask()), 'ada', 'another login is not affected');
  });

  test(`${storage}: a logout that cannot be stored is a 503, and the browser loses its cookie`, async () => {
    const gate = start({ storage });
    gate.entities.insert = () => Promise.reject(new EntityAccessError('unavailable', 'the store is unavailable'));
    const browser = new Browser(gate);
    await browser.logIn();
    const { response } = await browser.ask({ method: 'POST', path: '/?session_logout' });
    assert.equal(response.status, 503);
    assert.equal(browser.jar.size, 0);
  });

  test(`${storage}: without the store the cached revocations apply`, async () => {
    const gate = start({ storage });
    const [ended, alive] = [new Browser(gate), new Browser(gate)];
    await alive.logIn();
    await ended.logIn();
    const copy = `session=${ended.jar.get('session')}`;
    await ended.ask({ method: 'POST', path: '/?session_logout' });
    assert.equal(user(await gate.request({ headers: { Cookie: copy } })), 'nobody');
    gate.entities.list = () => Promise.reject(new EntityAccessError('unavailable', 'the store is unavailable'));
    assert.equal(user(await gate.request({ headers: { Cookie: copy } })), 'nobody');
    assert.equal(user(await alive.ask()), 'ada');
  });

  test(`${storage}: a client without cookies leaves no row, and one with cookies leaves one`, async () => {
    const gate = start({ storage, remember: true });
    const rows = countRows(gate, 'sessions');
    for (let count = 0; count < 100; count += 1) await gate.request({ headers: { 'X-User': 'ada' } });
    await settled();
    assert.equal(rows(), 0);
    const browser = new Browser(gate);
    await browser.logIn();
    await Promise.all(Array.from({ length: 20 }, () => browser.ask()));
    await settled();
    assert.equal(rows(), storage === 'kong' ? 1 : 0);
  });
}

test('kong: a session beyond the limit of its credential ends the one that expires first', async (t) => {
  const pass = atTime(t);
  const gate = start({ storage: 'kong', sessions_per_credential: 2 });
  const logIn = async (name: string): Promise<Browser> => {
    const browser = new Browser(gate);
    await browser.logIn(name);
    pass(61);
    // Its cookie names the row from now on.
    assert.equal(setCookies(await browser.ask()).length, 1);
    await settled();
    await browser.ask();
    pass(61);
    await browser.ask();
    return browser;
  };
  const other = await logIn('bob');
  const [first, second] = [await logIn('ada'), await logIn('ada')];
  pass(61);
  await first.ask();
  await settled();
  const third = await logIn('ada');
  const users = await Promise.all([other, first, second, third].map(async (browser) => user(await browser.ask())));
  assert.deepEqual(users, ['bob', 'ada', 'nobody', 'ada']);
});

test('kong: a logout during the insert of the row leaves no row', async () => {
  const gate = start({ storage: 'kong' });
  const insert = gate.entities.insert.bind(gate.entities);
  const { promise: arrival, resolve: arrive } = Promise.withResolvers<void>();
  gate.entities.insert = async (entity, fields) => {
    await arrival;
    return insert(entity, fields);
  };
  const browser = new Browser(gate);
  await browser.logIn();
  const cookie = `session=${browser.jar.get('session')}`;
  const logout = gate.request({ method: 'POST', path: '/?session_logout', headers: { Cookie: cookie } });
  // Long enough for a logout that does not wait.
  await settled();
  arrive();
  assert.equal((await logout).upstream, null);
  assert.equal(user(await gate.request({ headers: { Cookie: cookie } })), 'nobody');
});

test('shorter timeouts apply to existing sessions', async (t) => {
  const pass = atTime(t);
  for (const storage of ['cookie', 'kong']) {
    const sessions: Record<string, unknown>[] = [];
    const before = start({ storage });
    const insert = before.entities.insert.bind(before.entities);
    before.entities.insert = async (entity, fields) => {
      const row = await insert(entity, fields);
      sessions.push(row);
      return row;
    };
    const browser = new Browser(before);
    await browser.logIn();
    pass(31);
    const headers = { Cookie: `session=${browser.jar.get('session')}` };
    const same = start({ storage }, { sessions });
    assert.equal(user(await same.request({ headers })), 'ada', storage);
    const shorter = start({ storage, idling_timeout: 30 }, { sessions });
    assert.equal(user(await shorter.request({ headers })), 'nobody', storage);
  }
});

test('kong: rows contain neither the cookie nor the identity in clear text', async () => {
  const rows: Record<string, unknown>[] = [];
  const gate = start({ storage: 'kong' });
  const insert = gate.entities.insert.bind(gate.entities);
  gate.entities.insert = (entity, fields) => {
    rows.push({ entity, ...fields });
    return insert(entity, fields);
  };
  const browser = new Browser(gate);
  await browser.logIn();
  await browser.ask();
  await settled();
  assert.equal(rows.length, 1);
  const text = JSON.stringify(rows);
  assert.doesNotMatch(text, /\bada\b|5a1b0f0e/);
  browser.jar.set('session', `1.${rows[0]?.['session_id']}`);
  assert.equal(user(await browser.ask()), 'nobody');
});

test('kong: a renewed session has a new id, and the old one is valid for a short time only', async (t) => {
  const pass = atTime(t);
  const gate = start({ storage: 'kong', rolling_timeout: 100, idling_timeout: 0, stale_ttl: 10 });
  const browser = new Browser(gate);
  await browser.logIn();
  const old = `session=${browser.jar.get('session')}`;
  pass(80);
  assert.equal(setCookies(await browser.ask()).length, 1);
  assert.notEqual(`session=${browser.jar.get('session')}`, old);
  await settled();
  const late = await gate.request({ headers: { Cookie: old } });
  assert.equal(user(late), 'ada');
  assert.deepEqual(setCookies(late), []);
  pass(11);
  assert.equal(user(await gate.request({ headers: { Cookie: old } })), 'nobody');
  assert.equal(user(await browser.ask()), 'ada');
});

test('kong: a failed insert is logged and counted, and does not affect the response', async () => {
  const gate = start({ storage: 'kong' });
  gate.entities.insert = () => Promise.reject(new Error('the store is unavailable'));
  const browser = new Browser(gate);
  await browser.logIn();
  assert.equal(user(await browser.ask()), 'ada');
  await settled();
  assert.equal(gate.counts.get('session.store_failures'), 1);
  assert.equal(gate.logLines.at(-1)?.message, 'sessions could not be stored');
});

test('kong: an unavailable store is not treated as a missing session', async () => {
  const gate = start({ storage: 'kong' });
  const browser = new Browser(gate);
  await browser.logIn();
  await browser.ask();
  gate.entities.find = () => Promise.reject(new Error('away'));
  const outcome = await browser.ask();
  assert.equal(outcome.response.status, 500);
  assert.equal(outcome.upstream, null);
});

test('sealed cookie content that is not a session is ignored', async () => {
  for (const storage of ['cookie', 'kong']) {
    const gate = start({ storage, remember: true });
    for (const name of ['session', 'remember']) {
      const { seal } = sealer(secret, `session\0${storage}\0default\0${name}`);
      const many = JSON.stringify(Array.from({ length: 13 }, () => null));
      for (const text of ['', '{', 'null', '7', '"text"', '[]', '[null]', '[{}]', '["a"]', '{"0":"a"}', many]) {
        const headers = { Cookie: `${name}=1.${seal(text, Math.floor(Date.now() / 1000) + 60)}` };
        for (const path of ['/', '/?session_logout']) {
          const outcome = await gate.request({ method: 'POST', path, headers });
          assert.deepEqual([outcome.response.status, user(outcome)], [200, 'nobody'], `${storage} ${name} ${text}`);
        }
      }
    }
  }
});

test('the backend receives neither cookie, but all others', async () => {
  const gate = start({ remember: true });
  const browser = new Browser(gate);
  await browser.logIn();
  browser.jar.set('theme', 'dark');
  browser.jar.set('sessions', '1');
  const { upstream } = await browser.ask();
  assert.equal(upstream?.header('cookie'), 'theme=dark; sessions=1');
  browser.jar.delete('theme');
  browser.jar.delete('sessions');
  assert.equal((await browser.ask()).upstream?.header('cookie'), null);
});

test('attributes of the cookie follow the configuration', async () => {
  const [line] = setCookies(await start().request({ headers: { 'X-User': 'ada' } }));
  assert.match(line!, /^session=1\.[\w-]+; Path=\/; SameSite=Strict; Secure; HttpOnly$/);
  const config = {
    cookie_name: 'app',
    cookie_path: '/app',
    cookie_domain: 'example.com',
    cookie_same_site: 'Default',
    cookie_http_only: false,
    cookie_secure: false,
  };
  const [other] = setCookies(await start(config).request({ headers: { 'X-User': 'ada' } }));
  assert.match(other!, /^app=1\.[\w-]+; Path=\/app; Domain=example\.com$/);
});

test('headers contain details of the session, and those of the client are never passed on', async (t) => {
  const pass = atTime(t);
  const shown = ['id', 'audience', 'subject', 'timeout', 'idling-timeout', 'rolling-timeout', 'absolute-timeout'];
  const gate = start({ request_headers: shown, response_headers: shown });
  const browser = new Browser(gate);
  const { response } = await browser.logIn('ada', { 'Session-Subject': 'root' });
  const expected = [ada.id, '900', '900', '3600', '86400', 'default'];
  const names = ['subject', 'timeout', 'idling-timeout', 'rolling-timeout', 'absolute-timeout', 'audience'];
  assert.deepEqual(
    names.map((name) => response.header(`session-${name}`)),
    expected,
  );
  assert.match(response.header('session-id') ?? '', /^[\w-]{43}$/);
  pass(30);
  const { upstream } = await browser.ask({ headers: { 'Session-Id': 'forged' } });
  assert.equal(upstream?.header('session-id'), response.header('session-id'));
  assert.equal(upstream?.header('session-timeout'), '870');
  const stranger = await gate.request({ headers: { 'Session-Subject': 'root', 'Session-Id': 'x' } });
  assert.equal(stranger.upstream?.header('session-subject'), null);
  assert.equal(stranger.upstream?.header('session-id'), null);
});

test('another login replaces the session', async () => {
  const eager = definePlugin<Record<string, never>>({
    name: 'eager',
    version: '1.0.0',
    priority: 1100,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: (_, tools) => ({
      async access(context) {
        const consumer = await tools.entities.consumer(context.request.header('x-user') ?? '');
        if (consumer !== null) context.authenticate(consumer, { id: 'key', identifier: 'key' });
        return undefined;
      },
    }),
  });
  const gate = testPlugin(session, {
    config: { secret },
    otherPlugins: [{ plugin: eager }],
    entities: { consumers: [ada, bob] },
  });
  const browser = new Browser(gate);
  await browser.logIn('ada');
  assert.equal(user(await browser.ask({ headers: { 'X-User': 'bob' } })), 'bob');
  assert.equal(user(await browser.ask()), 'bob');
});

test('logins without consumer and credential id have separate sessions', async () => {
  const directory = definePlugin<Record<string, never>>({
    name: 'directory',
    version: '1.0.0',
    priority: 1200,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      access(context) {
        const name = context.request.header('x-user');
        if (name !== null) context.authenticate(null, { id: null, identifier: name });
        return undefined;
      },
    }),
  });
  const gate = testPlugin(session, { config: { secret }, otherPlugins: [{ plugin: directory }] });
  const browser = new Browser(gate);
  await browser.logIn('ada');
  await browser.logIn('bob');
  const { upstream } = await browser.ask();
  assert.equal(upstream?.header('x-credential-identifier'), 'bob');
  assert.deepEqual(setCookies(await browser.ask({ headers: { 'X-User': 'bob' } })), []);
});

test('without a configured secret the workers share a generated one', async () => {
  const gate = testPlugin(session, { otherPlugins: [{ plugin: door }], entities: { consumers: [ada, nobody] } });
  const browser = new Browser(gate);
  await browser.logIn();
  assert.equal(user(await browser.ask()), 'ada');
});

test('the defaults are those of Kong', async () => {
  const checked = await testPlugin(session).check({});
  assert.ok(checked.ok);
  assert.deepEqual(checked.config, {
    secret: null,
    storage: 'cookie',
    audience: 'default',
    idling_timeout: 900,
    rolling_timeout: 3600,
    absolute_timeout: 86400,
    stale_ttl: 10,
    sessions_per_credential: 1000,
    cookie_name: 'session',
    cookie_path: '/',
    cookie_domain: null,
    cookie_same_site: 'Strict',
    cookie_http_only: true,
    cookie_secure: true,
    remember: false,
    remember_cookie_name: 'remember',
    remember_rolling_timeout: 604800,
    remember_absolute_timeout: 2592000,
    response_headers: null,
    request_headers: null,
    read_body_for_logout: false,
    logout_methods: ['POST', 'DELETE'],
    logout_query_arg: 'session_logout',
    logout_post_arg: 'session_logout',
  });
});

test('names of old versions are accepted', async () => {
  const old = {
    cookie_lifetime: 100,
    cookie_idletime: 50,
    cookie_discard: 5,
    cookie_samesite: 'off',
    cookie_httponly: false,
    cookie_renew: 600,
    cookie_persistent: true,
  };
  const checked = await testPlugin(session).check(old);
  assert.ok(checked.ok);
  const { rolling_timeout, idling_timeout, stale_ttl, cookie_same_site, cookie_http_only, remember } = checked.config;
  assert.deepEqual(
    [rolling_timeout, idling_timeout, stale_ttl, cookie_same_site, cookie_http_only, remember],
    [100, 50, 5, 'Lax', false, true],
  );
  assert.ok(!('cookie_lifetime' in checked.config));
});

test('values that would break a cookie are refused', async () => {
  for (const config of [
    { cookie_path: '/; Domain=x' },
    { cookie_domain: 'a;b' },
    { cookie_name: 'a b' },
    { cookie_path: 'x' },
  ]) {
    assert.equal((await testPlugin(session).check(config)).ok, false, JSON.stringify(config));
  }
});
