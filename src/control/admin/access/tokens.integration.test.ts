import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestGateway } from '../../../../test/support/gateway.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../../../../test/support/postgres.ts';
import { until } from '../../../../test/support/until.ts';
import { startTestAdmin } from '../admin.fixture.ts';
import { startGuardedGateway, withToken } from './users.fixture.ts';

test('the first user must be an admin, gets a token at once, and closes the Admin API on loopback, too', async () => {
  await using admin = await startTestAdmin();
  const { call } = admin;
  assert.equal((await call('GET', '/services')).status, 200);
  const anonymous = await call('GET', '/admin-users/me');
  assert.deepEqual([anonymous.json['kind'], anonymous.json['role']], ['anonymous', 'admin']);
  const reader = await call('POST', '/admin-users', { name: 'eve', role: 'read' });
  assert.equal(reader.status, 409, reader.text);
  const first = await call('POST', '/admin-users', { name: 'ada', role: 'admin' });
  assert.equal(first.status, 201);
  const token = String(first.json['token']);
  assert.match(token, /^sgadm_[0-9A-Za-z]{49}$/);
  for (const path of ['/', '/services', '/status', '/nope', '/admin-users']) {
    assert.equal((await call('GET', path)).status, 401, path);
  }
  assert.equal((await call('POST', '/admin-users', { name: 'eve', role: 'admin' })).status, 401);
  const ada = withToken(admin.url, token);
  assert.equal((await ada('GET', '/services')).status, 200);
  const shown = await ada('GET', '/admin-users/ada/tokens');
  assert.doesNotMatch(shown.text, /token_hash|"token":/);
  assert.equal((await ada('GET', '/schemas/admin_tokens')).status, 200);
});

test('parallel requests cannot both create the first user', async () => {
  await using admin = await startTestAdmin();
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => admin.call('POST', '/admin-users', { name: `u${index}`, role: 'admin' })),
  );
  const tokens = answers.filter(({ json }) => typeof json['token'] === 'string');
  assert.equal(tokens.length, 1);
});

test('admin_auth = on closes the Admin API before there is a user', async () => {
  await using admin = await startTestAdmin({ settings: { adminAuth: 'on' } });
  assert.equal((await admin.call('GET', '/')).status, 401);
  assert.equal((await admin.call('POST', '/admin-users', { name: 'ada', role: 'admin' })).status, 401);
});

test('the token of the setting keeps all rights, next to users', async () => {
  await using admin = await startTestAdmin({ settings: { adminToken: 'break-glass-token' } });
  const root = withToken(admin.url, 'break-glass-token');
  assert.equal((await root('POST', '/admin-users', { name: 'eve', role: 'read' })).status, 201);
  assert.equal((await root('GET', '/admin-users/me')).json['name'], 'admin-token');
  assert.equal((await root('POST', '/services', { name: 'a', host: 'a.test' })).status, 201);
  const [record] = (await root('GET', '/audit?entity=services')).json['data'] as readonly Record<string, unknown>[];
  assert.deepEqual(record?.['actor'], { kind: 'token', name: 'admin-token' });
});

test('users and tokens are checked', async () => {
  await using admin = await startTestAdmin({ settings: { adminToken: 'break-glass-token' } });
  const root = withToken(admin.url, 'break-glass-token');
  const refused: readonly object[] = [
    {},
    { name: 'x' },
    { name: 'x', role: 'root' },
    { name: 'x', role: 'edit' },
    { name: 'x', role: 'edit', tag_patterns: [] },
    { name: 'x', role: 'edit', tag_patterns: [''] },
    { name: 'x', role: 'admin', certificate_name: 'ops' },
    { name: 'x y', role: 'admin' },
    { name: 'x', role: 'admin', token: 'chosen' },
    ...['me', 'anonymous', 'admin-token', 'cli'].map((name) => ({ name, role: 'admin' })),
  ];
  for (const body of refused) {
    const answer = await root('POST', '/admin-users', body);
    assert.equal(answer.status, 400, `${JSON.stringify(body)} ${answer.text}`);
  }
  assert.equal((await root('POST', '/admin-users', { name: 'ada', role: 'admin' })).status, 201);
  assert.equal((await root('POST', '/admin-users', { name: 'ada', role: 'admin' })).status, 409);
  const tokens = '/admin-users/ada/tokens';
  for (const body of [
    { ttl: -1 },
    { ttl: 1.5 },
    { ttl: 'x' },
    { token: 'mine' },
    { token_hash: 'a'.repeat(64) },
    { user: { id: 'x' } },
    { name: 'a b' },
  ]) {
    assert.equal((await root('POST', tokens, body)).status, 400, JSON.stringify(body));
  }
  assert.equal((await root('POST', tokens, { name: 'ci' })).status, 201);
  assert.equal((await root('POST', tokens, { name: 'ci' })).status, 409);
  const form = await root('POST', tokens, 'name=form&ttl=60');
  assert.equal(form.status, 201, form.text);
  assert.equal(form.json['ttl'], 60);
  assert.equal((await root('GET', `${tokens}/ci`)).json['name'], 'ci');
  assert.equal((await root('POST', '/admin-users', { name: 'bob', role: 'read' })).status, 201);
  assert.equal((await root('GET', `/admin-users/bob/tokens/ci`)).status, 404);
  const { id } = (await root('GET', `${tokens}/ci`)).json;
  assert.equal((await root('DELETE', `/admin-users/bob/tokens/${String(id)}`)).status, 404);
  assert.equal((await root('DELETE', `${tokens}/ci`)).status, 204);
});

test('the last admin can neither be deleted nor demoted while there are other users', async () => {
  await using users = await startGuardedGateway();
  const { admin } = users;
  assert.equal((await admin('DELETE', '/admin-users/admin')).status, 409);
  assert.equal((await admin('PATCH', '/admin-users/admin', { role: 'read' })).status, 409);
  assert.equal((await admin('POST', '/admin-users', { name: 'second', role: 'admin' })).status, 201);
  assert.equal((await admin('DELETE', '/admin-users/reader')).status, 204);
  assert.equal((await users.reader('GET', '/services')).status, 401);
});

test('several tokens rotate; an expired, revoked or demoted one loses its rights with the next request', async () => {
  await using users = await startGuardedGateway();
  const { admin } = users;
  const create = async (body: object) => {
    const { json } = await admin('POST', '/admin-users/alice/tokens', body);
    return withToken(users.gateway.adminUrl, String(json['token']));
  };
  const next = await create({ name: 'next' });
  assert.equal((await next('GET', '/services')).status, 200);
  assert.equal((await users.alice('GET', '/services')).status, 200);
  assert.equal((await admin('DELETE', '/admin-users/alice/tokens/test')).status, 204);
  assert.equal((await users.alice('GET', '/services')).status, 401);
  assert.equal((await next('POST', '/services', { name: 'a', host: 'a.test', tags: ['team-a'] })).status, 201);
  assert.equal((await admin('PATCH', '/admin-users/alice', { role: 'read' })).status, 200);
  assert.equal((await next('DELETE', '/services/a')).status, 403);
  const short = await create({ ttl: 1 });
  assert.equal((await short('GET', '/services')).status, 200);
  await until(async () => (await short('GET', '/services')).status === 401);
  assert.equal((await admin('DELETE', '/admin-users/alice')).status, 204);
  assert.equal((await next('GET', '/services')).status, 401);
});

test('a token that is revoked while its request arrives changes nothing', async () => {
  await using users = await startGuardedGateway();
  const { admin, gateway } = users;
  const lose: Readonly<Record<string, () => Promise<{ status: number }>>> = {
    revoked: () => admin('DELETE', '/admin-users/alice/tokens/revoked'),
    demoted: () => admin('PATCH', '/admin-users/alice', { role: 'read' }),
    narrowed: () => admin('PATCH', '/admin-users/alice', { role: 'edit', tag_patterns: ['team-c'] }),
    deleted: () => admin('DELETE', '/admin-users/alice'),
  };
  for (const [name, loseRights] of Object.entries(lose)) {
    await admin('PATCH', '/admin-users/alice', { role: 'edit', tag_patterns: ['team-a'] });
    const { json } = await admin('POST', '/admin-users/alice/tokens', { name });
    const body = JSON.stringify({ name, host: 'a.test', tags: ['team-a'] });
    const head = [
      'POST /services HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${String(json['token'])}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Connection: close',
    ];
    const socket = connect(Number(new URL(gateway.adminUrl).port), '127.0.0.1');
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    // It has signed in when its use is noted.
    await until(async () => (await admin('GET', `/admin-users/alice/tokens/${name}`)).json['last_used_at'] !== null);
    assert.ok((await loseRights()).status < 300);
    socket.end(body);
    const answer = Buffer.concat(await socket.toArray()).toString();
    assert.match(answer, /^HTTP\/1\.1 401 /, name);
    assert.equal((await admin('GET', `/services/${name}`)).status, 404);
  }
});

test('the last use is shown to the minute, and is no change of the config', async () => {
  await using users = await startGuardedGateway();
  const { admin, alice } = users;
  const before = (await admin('GET', '/audit?size=1')).json['data'];
  const lastUse = async () => (await admin('GET', '/admin-users/alice/tokens/test')).json['last_used_at'];
  assert.equal(await lastUse(), null);
  await alice('GET', '/services');
  await until(async () => (await lastUse()) !== null);
  const at = String(await lastUse());
  assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
  assert.ok(Math.abs(Date.now() - Date.parse(at)) < 120_000);
  assert.deepEqual((await admin('GET', '/audit?size=1')).json['data'], before);
});

test('the audit names the user and the token, and shows no token', async () => {
  await using users = await startGuardedGateway();
  const { admin, alice, tokens } = users;
  await alice('POST', '/services', { name: 'a', host: 'a.test', tags: ['team-a'] });
  const records = (await admin('GET', '/audit?actor=alice')).json['data'] as readonly Record<string, unknown>[];
  const { id } = (await admin('GET', '/admin-users/alice')).json;
  const token = (await admin('GET', '/admin-users/alice/tokens/test')).json['id'];
  assert.deepEqual(
    records.map(({ actor, name }) => [actor, name]),
    [[{ kind: 'user', name: 'alice', user: id, token }, 'a']],
  );
  const all = (await admin('GET', '/audit?size=1000')).text;
  assert.match(all, /"entity":"admin_tokens"/);
  for (const secret of Object.values(tokens)) assert.equal(all.includes(secret), false);
  assert.doesNotMatch(all, /"token_hash":"[0-9a-f]{64}"/);
});

test('guesses from one address are limited, and a token that works is not delayed', async () => {
  await using users = await startGuardedGateway({ settings: { trustedIps: ['127.0.0.1'] } });
  const { gateway, admin, tokens } = users;
  const from = (address: string, token: string) =>
    withToken(gateway.adminUrl, token)('GET', '/services', undefined, { 'x-forwarded-for': address });
  const begun = performance.now();
  const guesses = await Promise.all(
    Array.from({ length: 200 }, (_, index) => from('203.0.113.9', `${tokens.admin.slice(0, -3)}${100 + index}`)),
  );
  const count = (status: number) => guesses.filter((guess) => guess.status === status).length;
  assert.equal(count(401) + count(429), 200);
  // Ten at once, and another one every six seconds: a busy machine may take that long.
  const later = Math.floor((performance.now() - begun) / 6_000);
  assert.ok(count(401) >= 10 && count(401) <= 10 + later, `${count(401)} with ${later} later`);
  const limited = guesses.find(({ status }) => status === 429);
  assert.match(String(limited?.headers['retry-after']), /^[1-9]\d*$/);
  // A right token that this address has not used before must not stand out among the guesses.
  const fresh = await admin('POST', '/admin-users/alice/tokens', { name: 'fresh' });
  await until(async () => (await from('203.0.113.9', `${tokens.admin.slice(0, -3)}999`)).status === 429);
  assert.equal((await from('203.0.113.9', String(fresh.json['token']))).status, 429);
  assert.equal((await from('203.0.113.10', String(fresh.json['token']))).status, 200);
  assert.equal((await from('203.0.113.9', tokens.admin)).status, 200, 'it was right before');
});

test('many right requests at once are no guesses', async () => {
  await using users = await startGuardedGateway();
  const fresh = await users.admin('POST', '/admin-users/alice/tokens', { name: 'fresh' });
  const alice = withToken(users.gateway.adminUrl, String(fresh.json['token']));
  const answers = await Promise.all(Array.from({ length: 100 }, () => alice('GET', '/services')));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test('no token reaches a log', async () => {
  await using users = await startGuardedGateway();
  const { gateway, tokens, admin } = users;
  await withToken(gateway.adminUrl, `${tokens.admin}x`)('GET', '/services');
  await admin('GET', `/services?token=${tokens.admin}`);
  await admin('DELETE', `/admin-users/alice/tokens/${tokens.alice}`);
  const logs = () =>
    ['error.log', 'admin-access.log'].map((file) => readFileSync(join(gateway.prefix, file), 'utf8')).join('\n');
  await until(async () => logs().includes('without a valid token') && logs().includes('/services?token='));
  for (const token of Object.values(tokens)) assert.equal(logs().includes(token), false);
});

const skip = skipWithoutPostgres();

test('a token revoked on one node is refused by the next request on another', { skip }, async () => {
  const server = await startPostgres();
  try {
    const settings = { database: 'postgres', pg: postgresSettings(server, 1000) } as const;
    await using users = await startGuardedGateway({ settings });
    const other = await startTestGateway({ settings });
    try {
      const { tokens, admin } = users;
      const there = withToken(other.adminUrl, tokens.alice);
      assert.equal((await withToken(other.adminUrl, null)('GET', '/services')).status, 401);
      assert.equal((await there('GET', '/services')).status, 200);
      assert.equal((await admin('DELETE', '/admin-users/alice/tokens/test')).status, 204);
      assert.equal((await there('GET', '/services')).status, 401);
      // The database is gone: users are refused, and nobody gets in without a token.
      await server.crash();
      assert.equal((await withToken(other.adminUrl, tokens.reader)('GET', '/')).status, 503);
      assert.equal((await withToken(other.adminUrl, null)('GET', '/')).status, 401);
    } finally {
      await other.stop();
    }
  } finally {
    await server.stop();
  }
});

test('while the database is unavailable the token of the setting works', { skip }, async () => {
  const server = await startPostgres();
  try {
    const options = { pg: postgresSettings(server, 1000), settings: { adminToken: 'break-glass-token' } };
    await using admin = await startTestAdmin(options);
    await server.crash();
    assert.equal((await withToken(admin.url, 'break-glass-token')('GET', '/')).status, 503);
    assert.equal((await withToken(admin.url, 'break-glass-token')('GET', '/endpoints')).status, 200);
    assert.equal((await withToken(admin.url, 'break-glass-token')('PUT', '/debug/node/log-level/info')).status, 200);
    assert.equal((await admin.call('GET', '/endpoints')).status, 401);
  } finally {
    await server.stop();
  }
});
