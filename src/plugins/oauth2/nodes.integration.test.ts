import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../../../test/support/postgres.ts';

type Fields = Readonly<Record<string, unknown>>;

const client = { client_id: 'app', client_secret: 'a-secret-of-the-tests' };

async function write(node: TestGateway, method: string, path: string, body: unknown): Promise<Fields> {
  const answer = await node.admin(method, path, body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

async function post(node: TestGateway, endpoint: string, fields: Record<string, string>): Promise<[number, Fields]> {
  const headers = { 'X-Forwarded-Proto': 'https', Connection: 'close' };
  const body = new URLSearchParams(fields);
  const answer = await fetch(`${node.proxyUrl}/api/oauth2/${endpoint}`, { method: 'POST', headers, body });
  return [answer.status, (await answer.json()) as Fields];
}

async function call(node: TestGateway, token: string): Promise<number> {
  const answer = await fetch(`${node.proxyUrl}/api`, { headers: { Authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
}

async function until(what: string, reached: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await reached())) assert.ok(Date.now() < deadline, what);
}

/** One of many uses at once, spread over the nodes, succeeds. */
async function race(nodes: readonly TestGateway[], fields: Record<string, string>): Promise<Fields> {
  const uses = Array.from({ length: 24 }, (_, at) =>
    post(nodes[at % nodes.length]!, 'token', { ...client, ...fields }),
  );
  const answers = await Promise.all(uses);
  const winners = answers.filter(([status]) => status === 200);
  assert.equal(winners.length, 1, JSON.stringify(answers));
  return winners[0]![1];
}

test('two nodes over PostgreSQL: codes and refresh tokens serve once; while the database is away, tokens in use go on', {
  skip: skipWithoutPostgres(),
}, async () => {
  await using resources = new AsyncDisposableStack();
  const postgres = await startPostgres();
  resources.defer(() => postgres.stop());
  const backend = resources.use(await startBackend());
  const settings = {
    database: 'postgres' as const,
    pg: postgresSettings(postgres, 2000),
    plugins: ['oauth2'],
    trustedIps: ['127.0.0.1'],
  };
  const first = resources.use(await startTestGateway({ settings }));
  const second = resources.use(await startTestGateway({ settings }));
  await write(first, 'PUT', '/services/api', { url: backend.url });
  await write(first, 'PUT', '/services/api/routes/api', { paths: ['/api'] });
  await write(first, 'PUT', '/consumers/ada', {});
  const uris = { redirect_uris: ['https://app.example/back'] };
  await write(first, 'POST', '/consumers/ada/oauth2', { name: 'app', ...client, ...uris });
  const provision_key = 'the-provision-key';
  const grants = { enable_authorization_code: true, accept_http_if_already_terminated: true };
  await write(first, 'POST', '/services/api/plugins', { name: 'oauth2', config: { provision_key, ...grants } });
  await until('the other node does not know the plugin', async () => (await call(second, 'none')) === 401);

  const asked = { client_id: 'app', response_type: 'code', provision_key, authenticated_userid: 'user-7' };
  const [status, { redirect_uri: uri }] = await post(first, 'authorize', asked);
  assert.equal(status, 200);
  const code = new URL(String(uri)).searchParams.get('code') ?? '';
  const tokens = await race([first, second], { grant_type: 'authorization_code', code });
  const refresh_token = String(tokens['refresh_token']);
  const { access_token: token } = await race([second, first], { grant_type: 'refresh_token', refresh_token });
  for (const node of [first, second]) {
    await until('a new token is not known', async () => (await call(node, String(token))) === 200);
    await until('an old token goes on', async () => (await call(node, String(tokens['access_token']))) === 401);
  }

  await postgres.crash();
  assert.equal(await call(first, String(token)), 200);
  assert.equal(await call(first, 'never-seen'), 503);
  const [away] = await post(first, 'authorize', asked);
  assert.equal(away, 503);
  await postgres.restart();
  await until('it did not heal', async () => (await call(first, 'never-seen')) === 401);
});
