import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startGatewayProcess } from '../../../test/support/gateway-process.ts';
import { postgresEnv, skipWithoutPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { run } from '../run.ts';

const cwd = mkdtempSync(join(tmpdir(), 'cli-users-'));
after(() => rmSync(cwd, { recursive: true, force: true }));

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function cli(prefix: string, line: string, env: Record<string, string> = {}): Promise<Outcome> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await run(['admin-user', ...line.split(' '), '--prefix', prefix], {
    env,
    cwd,
    out: (text) => out.push(text),
    err: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

async function done(prefix: string, line: string, env?: Record<string, string>): Promise<string> {
  const { code, out, err } = await cli(prefix, line, env);
  assert.equal(code, 0, `${line}: ${err}`);
  return out;
}

const tokenShape = /^sgadm_[0-9A-Za-z]{49}$/;

async function statusFor(url: string, token: string | null): Promise<number> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/services`, { headers });
  await response.arrayBuffer();
  return response.status;
}

test('users are created in the store of a stopped node, which then requires their tokens', async () => {
  const prefix = mkdtempSync(join(cwd, 'stopped-'));
  const refused = await cli(prefix, 'create eve --role read');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /There must be an admin user/);
  const ada = await done(prefix, 'create ada --role admin');
  assert.match(ada, tokenShape);
  const bob = await done(prefix, 'create bob --role edit --tags team-a,team-a-*');
  assert.equal(await done(prefix, 'create ci --role read --no-token'), '');
  await using node = startGatewayProcess(prefix);
  await node.started();
  const url = node.url('admin');
  assert.equal(await statusFor(url, null), 401);
  assert.equal(await statusFor(url, ada), 200);
  assert.equal(await statusFor(url, bob), 200);
  // The node runs now, so the command uses its Admin API, which needs a token.
  const without = await cli(prefix, 'list');
  assert.equal(without.code, 1);
  assert.match(without.err, /requires a token: set SLUICEGATE_ADMIN_TOKEN, or pass --token-file or --token/);
  const list = await done(prefix, 'list', { SLUICEGATE_ADMIN_TOKEN: ada });
  assert.match(list, /^ada {2}admin\n {2}sgadm_\w{4} {2}sgadm_\w{4}\.\.\. {2}last used \d{4}-\d\d-\d\dT\d\d:\d\dZ$/m);
  assert.match(list, /^bob {2}edit team-a,team-a-\*$/m);
  assert.match(list, /^ci {2}read$/m);
  const label = await done(prefix, `token ci --label nightly --ttl 90d --token ${ada}`);
  assert.match(label, tokenShape);
  assert.equal(await statusFor(url, label), 200);
  const users = JSON.parse(await done(prefix, `list --json --token ${ada}`)) as {
    tokens: { name: string; expires_at: number }[];
  }[];
  const nightly = users.flatMap(({ tokens }) => tokens).find(({ name }) => name === 'nightly');
  assert.ok(Math.abs((nightly?.expires_at ?? 0) - Date.now() / 1000 - 90 * 86_400) < 600);
  await done(prefix, `revoke ci nightly --token ${ada}`);
  assert.equal(await statusFor(url, label), 401);
  await done(prefix, `delete bob --token ${ada}`);
  assert.equal(await statusFor(url, bob), 401);
  const gone = await cli(prefix, `delete bob --token ${ada}`);
  assert.match(gone.err, /there is no admin user 'bob'/);
  // All tokens are lost: who can write the store can create one, and the running node accepts it.
  const rescued = await done(prefix, 'token ada --store');
  assert.equal(await statusFor(url, rescued), 200);
  await done(prefix, `revoke ada ${ada.slice(0, 10)} --store`);
  assert.equal(await statusFor(url, ada), 401);
  const audit = await (
    await fetch(`${url}/audit?actor=cli`, { headers: { authorization: `Bearer ${rescued}` } })
  ).text();
  assert.match(audit, /"actor":\{"kind":"cli","name":"cli"\}/);
  for (const token of [ada, rescued]) assert.equal(audit.includes(token), false);
});

test('a running node without users gets its first one', async () => {
  const prefix = mkdtempSync(join(cwd, 'running-'));
  await using node = startGatewayProcess(prefix);
  await node.started();
  assert.equal(await statusFor(node.url('admin'), null), 200);
  const ada = await done(prefix, 'create ada --role admin');
  assert.match(ada, tokenShape);
  assert.equal(await statusFor(node.url('admin'), null), 401);
  assert.equal(await statusFor(node.url('admin'), ada), 200);
});

test('mistakes are explained in one line', async () => {
  const prefix = mkdtempSync(join(cwd, 'mistakes-'));
  await done(prefix, 'create ada --role admin');
  const mistakes: Readonly<Record<string, RegExp>> = {
    'create bob': /--role is missing/,
    'create bob --role root': /role: expected one of: read, edit, admin/,
    'create bob --role edit': /tag_patterns/,
    'create ada --role admin': /it exists already: ada/,
    'create me --role admin': /name/,
    create: /usage: sluicegate admin-user create/,
    'token nobody': /there is no admin user 'nobody'/,
    'token ada --ttl soon': /--ttl must be a duration such as 90d/,
    'token ada --ttl 0d': /--ttl must be a duration/,
    'revoke ada': /usage: sluicegate admin-user revoke/,
    'revoke ada nothing': /'ada' has no token 'nothing'/,
    'promote ada': /unknown action 'promote'/,
    'list --admin http://127.0.0.1:1 --store': /exclude each other/,
  };
  for (const [line, expected] of Object.entries(mistakes)) {
    const { code, out, err } = await cli(prefix, line);
    assert.equal(code, 1, line);
    assert.equal(out, '', line);
    assert.match(err, expected, line);
  }
  const nowhere = await cli(join(prefix, 'misspelt'), 'create ada --role admin');
  assert.match(nowhere.err, /there is no node in /);
});

test('with PostgreSQL the store is the database', { skip: skipWithoutPostgres() }, async () => {
  const server = await startPostgres();
  try {
    const prefix = mkdtempSync(join(cwd, 'postgres-'));
    const env = postgresEnv(server);
    const ada = await done(prefix, 'create ada --role admin', env);
    await using node = startGatewayProcess(prefix, env);
    await node.started();
    assert.equal(await statusFor(node.url('admin'), null), 401);
    assert.equal(await statusFor(node.url('admin'), ada), 200);
    await done(prefix, `revoke ada ${ada.slice(0, 10)} --store`, env);
    assert.equal(await statusFor(node.url('admin'), ada), 401);
  } finally {
    await server.stop();
  }
});
