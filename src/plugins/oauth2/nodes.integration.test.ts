import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { until } from '../../../test/support/until.ts';

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

/** Of many concurrent uses on both nodes, at most one succeeds; the others revoke its tokens. */
async function race(nodes: readonly TestGateway[], fields: Record<string, string>): Promise<void> {
  const uses = Array.from({ length: 24 }, (_, at) =>
    post(nodes[at % nodes.length]!, 'token', { ...client, ...fields }),
  );
  const answers = await Promise.all(uses);
  const winners = answers.filter(([status]) => status === 200);
  assert.ok(winners.length <= 1, JSON.stringify(answers));
  for (const [, { access_token: token }] of winners) await assertRefused(nodes, String(token));
}

async function assertRefused(nodes: readonly TestGateway[], token: string): Promise<void> {
  for (const node of nodes) await until(async () => (await call(node, token)) === 401);
}

test('two nodes with PostgreSQL: codes and refresh tokens can be used once; while the database is unavailable, tokens in use stay valid', {
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
  await until(async () => (await call(second, 'none')) === 401);

  const asked = { client_id: 'app', response_type: 'code', provision_key, authenticated_userid: 'user-7' };
  const codeGrant = async (): Promise<Record<string, string>> => {
    const [status, { redirect_uri: uri }] = await post(first, 'authorize', asked);
    assert.equal(status, 200);
    return { grant_type: 'authorization_code', code: new URL(String(uri)).searchParams.get('code') ?? '' };
  };
  const tokensFor = async (node: TestGateway, fields: Record<string, string>): Promise<Record<string, string>> => {
    const [status, tokens] = await post(node, 'token', { ...client, ...fields });
    assert.equal(status, 200, JSON.stringify(tokens));
    return tokens as Record<string, string>;
  };
  const refreshGrant = ({ refresh_token = '' }: Record<string, string>) => ({
    grant_type: 'refresh_token',
    refresh_token,
  });
  const nodes = [first, second];
  await race(nodes, await codeGrant());
  await race(nodes, refreshGrant(await tokensFor(first, await codeGrant())));

  // A replay on one node revokes the tokens of the other.
  const code = await codeGrant();
  const issued = [await tokensFor(first, code)];
  issued.push(await tokensFor(second, refreshGrant(issued[0]!)), {});
  issued[2] = await tokensFor(first, refreshGrant(issued[1]!));
  assert.equal((await post(second, 'token', { ...client, ...code }))[0], 400);
  for (const tokens of issued) {
    await assertRefused(nodes, tokens['access_token'] ?? '');
    for (const node of nodes) assert.equal((await post(node, 'token', { ...client, ...refreshGrant(tokens) }))[0], 400);
  }

  const { access_token: token = '', ...rest } = await tokensFor(second, await codeGrant());
  const next = await tokensFor(first, refreshGrant(rest));
  for (const node of nodes) {
    await until(async () => (await call(node, next['access_token'] ?? '')) === 200);
  }
  await assertRefused(nodes, token);

  await postgres.crash();
  assert.equal(await call(first, next['access_token'] ?? ''), 200);
  assert.equal(await call(first, 'never-seen'), 503);
  const [away] = await post(first, 'authorize', asked);
  assert.equal(away, 503);
  await postgres.restart();
  await until(async () => (await call(first, 'never-seen')) === 401);
});
