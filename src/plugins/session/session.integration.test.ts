import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type EchoedRequest, startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { until } from '../../../test/support/until.ts';

type Fields = Readonly<Record<string, unknown>>;

let gateway: TestGateway;
let backend: TestBackend;
let prefix: string;
const resources = new AsyncDisposableStack();

before(async () => {
  backend = resources.use(await startBackend());
  prefix = await mkdtemp(join(tmpdir(), 'sluicegate-session-'));
  resources.defer(() => rm(prefix, { recursive: true }));
  resources.defer(() => gateway?.stop());
  await boot();
  await admin('PUT', '/consumers/nobody', {});
  for (const storage of ['cookie', 'kong']) {
    await admin('PUT', `/services/${storage}`, { url: backend.url });
    await admin('PUT', `/services/${storage}/routes/${storage}`, { paths: [`/${storage}`] });
    for (const name of ['key-auth', 'basic-auth']) {
      await admin('POST', `/services/${storage}/plugins`, { name, config: { anonymous: 'nobody' } });
    }
    const config = { storage, idling_timeout: 0 };
    await admin('POST', `/services/${storage}/plugins`, { name: 'session', instance_name: storage, config });
  }
});

after(() => resources.disposeAsync());

async function boot(): Promise<void> {
  gateway = await startTestGateway({
    settings: { prefix, workers: 2, plugins: ['key-auth', 'basic-auth', 'session', 'auth-any'] },
  });
}

async function admin(method: string, path: string, body?: unknown): Promise<Fields> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Each request has a separate connection, so any worker may get it. */
function ask(path: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<Response> {
  return fetch(gateway.proxyUrl + path, { method, headers: { ...headers, Connection: 'close' } });
}

let users = 0;

interface Login {
  readonly name: string;
  readonly cookie: string;
  /** The Admin API's path of the credential. */
  readonly credential: string;
}

/** A consumer who logs in with a key. */
async function logIn(storage: string): Promise<Login> {
  users += 1;
  const name = `user-${users}`;
  await admin('PUT', `/consumers/${name}`, {});
  const { id, key } = await admin('POST', `/consumers/${name}/key-auth`, {});
  const cookie = await cookieFor(storage, { apikey: String(key) });
  return { name, cookie, credential: `/consumers/${name}/key-auth/${id}` };
}

async function cookieFor(storage: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const answer = await ask(`/${storage}`, headers);
  await answer.arrayBuffer();
  const [line = ''] = answer.headers.getSetCookie();
  assert.match(line, /^session=1\.[\w-]+; Path=\/; SameSite=Strict; Secure; HttpOnly$/);
  return line.slice(0, line.indexOf(';'));
}

async function logOut(storage: string, cookie: string): Promise<void> {
  const answer = await ask(`/${storage}?session_logout=true`, { Cookie: cookie }, 'POST');
  assert.deepEqual([answer.status, await answer.text()], [200, '']);
  assert.match(answer.headers.getSetCookie()[0] ?? '', /^session=; .*Max-Age=0/);
}

async function userOf(storage: string, cookie: string): Promise<unknown> {
  const answer = await ask(`/${storage}`, { Cookie: cookie });
  assert.equal(answer.status, 200);
  const { headers } = (await answer.json()) as EchoedRequest;
  assert.equal(headers['cookie'], undefined);
  return headers['x-consumer-username'];
}

/** The user of many requests at once, over all workers; more than one name when they differ. */
async function usersOf(storage: string, cookie: string): Promise<readonly unknown[]> {
  return [...new Set(await Promise.all(Array.from({ length: 16 }, () => userOf(storage, cookie))))];
}

for (const storage of ['cookie', 'kong']) {
  test(`${storage}: every worker knows a session once the response that starts it is sent`, async () => {
    for (let round = 0; round < 5; round += 1) {
      const { name, cookie } = await logIn(storage);
      assert.deepEqual(await usersOf(storage, cookie), [name]);
    }
  });

  test(`${storage}: the session ends with its consumer`, async () => {
    const { name, cookie } = await logIn(storage);
    assert.deepEqual(await usersOf(storage, cookie), [name]);
    await admin('DELETE', `/consumers/${name}`);
    assert.deepEqual(await usersOf(storage, cookie), ['nobody']);
  });

  test(`${storage}: the session ends with the credential that started it, and no other session does`, async () => {
    const [ended, alive] = [await logIn(storage), await logIn(storage)];
    assert.deepEqual(await usersOf(storage, ended.cookie), [ended.name]);
    await admin('PATCH', alive.credential, { tags: ['kept'] });
    await admin('DELETE', ended.credential);
    assert.deepEqual(await usersOf(storage, ended.cookie), ['nobody']);
    assert.deepEqual(await usersOf(storage, alive.cookie), [alive.name]);
    await admin('PATCH', alive.credential, { key: `another-key-of-${alive.name}` });
    assert.deepEqual(await usersOf(storage, alive.cookie), ['nobody']);
  });

  test(`${storage}: a new password ends the sessions of the old one`, async () => {
    const username = `ada-${storage}`;
    await admin('PUT', `/consumers/${username}`, {});
    const path = `/consumers/${username}/basic-auth/${randomUUID()}`;
    await admin('PUT', path, { username, password: 'first' });
    const authorization = `Basic ${Buffer.from(`${username}:first`).toString('base64')}`;
    const cookie = await cookieFor(storage, { Authorization: authorization });
    assert.deepEqual(await usersOf(storage, cookie), [username]);
    await admin('PUT', path, { username, password: 'first', tags: ['the same password'] });
    assert.deepEqual(await usersOf(storage, cookie), [username]);
    await admin('PUT', path, { username, password: 'second' });
    assert.deepEqual(await usersOf(storage, cookie), ['nobody']);
  });

  test(`${storage}: after a logout no worker accepts a copy of the cookie, even after a restart`, async () => {
    const [ended, alive] = [await logIn(storage), await logIn(storage)];
    assert.deepEqual(await usersOf(storage, ended.cookie), [ended.name]);
    await logOut(storage, ended.cookie);
    assert.deepEqual(await usersOf(storage, ended.cookie), ['nobody']);
    await gateway.stop();
    await boot();
    assert.deepEqual(await usersOf(storage, ended.cookie), ['nobody']);
    assert.deepEqual(await usersOf(storage, alive.cookie), [alive.name]);
  });

  test(`${storage}: a logout before the session was used ends it too`, async () => {
    const { cookie } = await logIn(storage);
    await logOut(storage, cookie);
    assert.deepEqual(await usersOf(storage, cookie), ['nobody']);
  });

  test(`${storage}: a restart ends no session, because the generated secret is stored`, async () => {
    const { name, cookie } = await logIn(storage);
    assert.deepEqual(await usersOf(storage, cookie), [name]);
    const { config } = await admin('GET', `/plugins/${storage}`);
    assert.match(String((config as Fields)['secret']), /^[A-Za-z0-9]{32}$/);
    await gateway.stop();
    await boot();
    assert.deepEqual(await usersOf(storage, cookie), [name]);
    assert.deepEqual((await admin('GET', `/plugins/${storage}`))['config'], config);
  });
}

test('kong: 100 logins without a cookie leave no rows, and one session in use leaves one', async () => {
  const sessions = async () => ((await admin('GET', '/sessions?size=1000'))['data'] as Fields[]).length;
  const { name, cookie } = await logIn('kong');
  const { key } = await admin('POST', `/consumers/${name}/key-auth`, {});
  const before = await sessions();
  await Promise.all(Array.from({ length: 100 }, () => cookieFor('kong', { apikey: String(key) })));
  assert.equal(await sessions(), before);
  await usersOf('kong', cookie);
  await until(async () => (await sessions()) === before + 1);
  await usersOf('kong', cookie);
  assert.equal(await sessions(), before + 1);
});

test('kong: the Admin API lists sessions and ends them', async () => {
  const { name, cookie } = await logIn('kong');
  assert.deepEqual(await usersOf('kong', cookie), [name]);
  let rows: readonly Fields[] = [];
  await until(async () => {
    rows = (await admin('GET', '/sessions?size=1000'))['data'] as Fields[];
    return rows.length > 0;
  });
  for (const row of rows) {
    const kongs = ['created_at', 'data', 'expires', 'id', 'session_id', 'ttl'];
    assert.deepEqual(Object.keys(row).sort(), [...kongs, 'login', 'login_expires', 'subject'].sort());
    assert.ok(Number(row['ttl']) > 3500 && Number(row['ttl']) <= 3600);
    assert.doesNotMatch(JSON.stringify(row), new RegExp(name));
    await admin('DELETE', `/sessions/${row['session_id']}`);
  }
  assert.deepEqual(await usersOf('kong', cookie), ['nobody']);
});

test('with auth-any, a session is one of the ways to authenticate', async () => {
  await admin('PUT', '/services/any', { url: backend.url });
  await admin('PUT', '/services/any/routes/any', { paths: ['/any'] });
  await admin('POST', '/services/any/plugins', { name: 'key-auth' });
  await admin('POST', '/services/any/plugins', { name: 'session' });
  await admin('POST', '/services/any/plugins', { name: 'auth-any', config: { methods: ['session', 'key-auth'] } });
  assert.equal((await ask('/any', {})).status, 401);
  const { name, cookie } = await logIn('any');
  assert.deepEqual(await usersOf('any', cookie), [name]);
  assert.equal((await ask('/any', { Cookie: `${cookie}x` })).status, 401);
});

test('a session of one storage is not accepted by the other', async () => {
  const { cookie } = await logIn('cookie');
  assert.equal(await userOf('kong', cookie), 'nobody');
  const other = await logIn('kong');
  assert.equal(await userOf('cookie', other.cookie), 'nobody');
});

test('no log shows a cookie', async () => {
  const { cookie } = await logIn('kong');
  await userOf('kong', cookie);
  await gateway.stop();
  for (const name of ['access.log', 'error.log', 'admin-access.log']) {
    const text = await readFile(join(prefix, name), 'utf8').catch(() => '');
    assert.ok(!text.includes(cookie.slice(20, 60)), name);
  }
  await boot();
});
