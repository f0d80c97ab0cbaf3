import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import {
  postgresSettings,
  skipWithoutPostgres,
  startPostgres,
  type TestPostgres,
} from '../../../test/support/postgres.ts';
import { until } from '../../../test/support/until.ts';

const skip = skipWithoutPostgres();
const restoredLine = /the database was restored or replaced; the whole config was read from it again/;
let backend: TestBackend;
let folder = '';

before(async () => {
  backend = await startBackend();
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-restored-'));
});

after(async () => {
  await backend.close();
  await rm(folder, { recursive: true, force: true });
});

async function put(node: TestGateway, path: string, fields: object): Promise<void> {
  const { status } = await node.admin('PUT', path, fields);
  assert.equal(status, 200, path);
}

/** A route that requires a key, and a consumer with one, all of the same name. */
async function addRoute(node: TestGateway, name: string): Promise<void> {
  await put(node, `/services/${name}`, { url: backend.url });
  await put(node, `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
  await put(node, `/consumers/${name}`, {});
  await node.admin('POST', `/consumers/${name}/key-auth`, { key: `key-of-${name}` });
}

async function statusOf(node: TestGateway, path: string, key = ''): Promise<number> {
  const response = await fetch(node.proxyUrl + path, { headers: { apikey: key } });
  await response.arrayBuffer();
  return response.status;
}

const errorLog = (node: TestGateway): Promise<string> => readFile(join(node.prefix, 'error.log'), 'utf8');

/** What a node saves for a start without the database; written within a second. */
async function lastGoodNames(node: TestGateway): Promise<readonly string[]> {
  const text = await readFile(join(node.prefix, 'last-good.json'), 'utf8').catch(() => '');
  return [...text.matchAll(/"paths":\["\/([a-z]+)"\]/g)].map(([, name]) => String(name)).sort();
}

function startOn(postgres: TestPostgres, name: string): Promise<TestGateway> {
  return startTestGateway({
    settings: { prefix: join(folder, name), database: 'postgres', pg: postgresSettings(postgres, 2000) },
  });
}

function run(postgres: TestPostgres, program: string, args: readonly string[], input = ''): string {
  return execFileSync(
    program,
    ['-h', postgres.host, '-p', String(postgres.port), '-U', postgres.user, '-d', postgres.database, ...args],
    { encoding: 'utf8', input, env: { ...process.env, PGPASSWORD: postgres.password }, maxBuffer: 1 << 26 },
  );
}

const dump = (postgres: TestPostgres): string => run(postgres, 'pg_dump', ['--clean', '--if-exists']);

function restore(postgres: TestPostgres, backup: string): void {
  run(postgres, 'psql', ['--quiet', '--single-transaction', '--set', 'ON_ERROR_STOP=1'], backup);
}

async function assertServes(node: TestGateway, present: readonly string[], absent: readonly string[]): Promise<void> {
  for (const name of present) assert.equal(await statusOf(node, `/${name}`, `key-of-${name}`), 200, name);
  for (const name of absent) assert.equal(await statusOf(node, `/${name}`, `key-of-${name}`), 404, name);
  const [first] = present;
  for (const name of absent) assert.equal(await statusOf(node, `/${first}`, `key-of-${name}`), 401, `key of ${name}`);
}

test('two nodes follow a PostgreSQL database that was restored from a dump', { skip }, async () => {
  const postgres = await startPostgres();
  const nodes: TestGateway[] = [];
  try {
    const one = await startOn(postgres, 'one');
    const two = await startOn(postgres, 'two');
    nodes.push(one, two);
    await put(one, '/plugins/0a000000-0000-4000-8000-000000000001', { name: 'key-auth' });
    await addRoute(one, 'kept');
    const backup = dump(postgres);
    await addRoute(one, 'lost');
    await addRoute(one, 'gone');
    await until(async () => (await statusOf(two, '/gone', 'key-of-gone')) === 200);
    for (const node of nodes) await assertServes(node, ['kept', 'lost', 'gone'], []);

    restore(postgres, backup);
    // At once, so that the versions of the lost changes would be assigned again.
    await addRoute(one, 'new');
    await assertServes(one, ['kept', 'new'], ['lost', 'gone']);
    await until(async () => (await statusOf(two, '/new', 'key-of-new')) === 200);
    await assertServes(two, ['kept', 'new'], ['lost', 'gone']);
    for (const node of nodes) {
      await until(async () => restoredLine.test(await errorLog(node)));
      await until(async () => (await lastGoodNames(node)).join() === 'kept,new');
    }
  } finally {
    for (const node of nodes) await node.stop();
    await postgres.stop();
  }
});

test('a node that starts from its copy notices that the database was replaced meanwhile', {
  skip,
  timeout: 60_000,
}, async () => {
  const postgres = await startPostgres();
  const nodes: TestGateway[] = [];
  try {
    const first = await startOn(postgres, 'copy');
    await put(first, '/plugins/0a000000-0000-4000-8000-000000000001', { name: 'key-auth' });
    await addRoute(first, 'kept');
    const backup = dump(postgres);
    await addRoute(first, 'lost');
    await assertServes(first, ['kept', 'lost'], []);
    await first.stop();
    restore(postgres, backup);
    const other = await startOn(postgres, 'other');
    await addRoute(other, 'new');
    await addRoute(other, 'newer');
    await other.stop();
    await postgres.crash();
    const again = await startOn(postgres, 'copy');
    nodes.push(again);
    await assertServes(again, ['kept', 'lost'], []);
    await postgres.restart();
    await until(async () => (await statusOf(again, '/lost', 'key-of-lost')) === 404);
    await assertServes(again, ['kept', 'new', 'newer'], ['lost']);
    await until(async () => restoredLine.test(await errorLog(again)));
    await until(async () => (await lastGoodNames(again)).join() === 'kept,new,newer');
  } finally {
    for (const node of nodes) await node.stop();
    await postgres.stop();
  }
});

test('a node opens a SQLite file that replaced its own', async () => {
  const prefix = join(folder, 'sqlite');
  const node = await startTestGateway({ settings: { prefix } });
  try {
    await put(node, '/plugins/0a000000-0000-4000-8000-000000000001', { name: 'key-auth' });
    await addRoute(node, 'kept');
    const file = join(prefix, 'store.sqlite');
    const backup = new DatabaseSync(file);
    backup.exec(`vacuum into '${file}.backup'`);
    backup.close();
    await addRoute(node, 'lost');
    await assertServes(node, ['kept', 'lost'], []);
    await rename(`${file}.backup`, file);
    await until(async () => (await statusOf(node, '/lost', 'key-of-lost')) === 404);
    await assertServes(node, ['kept'], ['lost']);
    await until(async () => restoredLine.test(await errorLog(node)));
    await addRoute(node, 'new');
    await assertServes(node, ['kept', 'new'], ['lost']);
  } finally {
    await node.stop();
  }
});
