import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EchoedRequest, startBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { until } from '../../../test/support/until.ts';

async function write(node: TestGateway, method: string, path: string, body: unknown) {
  const answer = await node.admin(method, path, body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

function ask(node: TestGateway, headers: Readonly<Record<string, string>>, path = '/', method = 'GET') {
  return fetch(node.proxyUrl + path, { method, headers: { ...headers, Connection: 'close' } });
}

/** The consumer of a request with the cookie; its status if it was refused. */
async function userOf(node: TestGateway, cookie: string, path = '/'): Promise<string | number> {
  const answer = await ask(node, { Cookie: cookie }, path);
  const text = await answer.text();
  if (answer.status !== 200) return answer.status;
  return String((JSON.parse(text) as EchoedRequest).headers['x-consumer-username']);
}

test('two nodes with PostgreSQL share sessions and revocations; while the database is unavailable no session is treated as unknown', {
  skip: skipWithoutPostgres(),
}, async () => {
  await using resources = new AsyncDisposableStack();
  const postgres = await startPostgres();
  resources.defer(() => postgres.stop());
  const backend = resources.use(await startBackend());
  const pg = postgresSettings(postgres, 2000);
  const settings = { database: 'postgres' as const, pg, plugins: ['key-auth', 'session'] };
  const first = resources.use(await startTestGateway({ settings }));
  const second = resources.use(await startTestGateway({ settings }));
  for (const [storage, path] of [
    ['kong', '/'],
    ['cookie', '/cookie'],
  ] as const) {
    await write(first, 'PUT', `/services/${storage}`, { url: backend.url });
    await write(first, 'PUT', `/services/${storage}/routes/${storage}`, { paths: [path] });
    await write(first, 'POST', `/services/${storage}/plugins`, { name: 'session', config: { storage } });
  }
  for (const name of ['ada', 'nobody']) await write(first, 'PUT', `/consumers/${name}`, {});
  const { key } = await write(first, 'POST', '/consumers/ada/key-auth', {});
  await write(first, 'POST', '/plugins', { name: 'key-auth', config: { anonymous: 'nobody' } });
  await until(async () => (await userOf(second, '')) === 'nobody');

  const logIn = async (node: TestGateway, path = '/'): Promise<string> => {
    const answer = await ask(node, { apikey: String(key) }, path);
    await answer.arrayBuffer();
    return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  };
  for (const [here, there, path] of [
    [first, second, '/'],
    [second, first, '/'],
    [first, second, '/cookie'],
    [second, first, '/cookie'],
  ] as const) {
    const cookie = await logIn(here, path);
    assert.equal(await userOf(there, cookie, path), 'ada', 'at once, on the other node');
    const out = await ask(there, { Cookie: cookie }, `${path}?session_logout=true`, 'POST');
    assert.deepEqual([out.status, await out.text()], [200, '']);
    assert.equal(await userOf(there, cookie, path), 'nobody');
    await until(async () => (await userOf(here, cookie, path)) === 'nobody');
  }

  const known = await logIn(second);
  assert.equal(await userOf(first, known), 'ada');
  const unknown = await logIn(second);
  const inCookie = await logIn(second, '/cookie');
  assert.equal(await userOf(first, inCookie, '/cookie'), 'ada');
  const stored = async () => ((await first.admin('GET', '/sessions')).body['data'] as unknown[]).length;
  await until(async () => (await stored()) === 1);
  // Changes of the sessions arrive before that of this route.
  await write(second, 'PUT', '/services/gone', { url: 'http://127.0.0.1:1' });
  await write(second, 'PUT', '/services/gone/routes/gone', { paths: ['/gone'] });
  await until(async () => (await ask(first, { Cookie: known }, '/gone')).status === 502);
  assert.equal(await userOf(first, known), 'ada');
  await postgres.crash();
  assert.equal(await userOf(first, known), 'ada');
  assert.equal(await userOf(first, inCookie, '/cookie'), 'ada');
  assert.equal(await userOf(first, unknown), 503);
  const out = await ask(first, { Cookie: inCookie }, '/cookie?session_logout=true', 'POST');
  assert.equal(out.status, 503);
  assert.match(out.headers.getSetCookie()[0] ?? '', /^session=; .*Max-Age=0/);
  await postgres.restart();
  await until(async () => (await userOf(first, unknown)) === 'ada');
});
