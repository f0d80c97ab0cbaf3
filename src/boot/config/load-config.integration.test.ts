import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { leastTime } from '../../../test/support/least-time.ts';
import { skipWithoutPostgres, startPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { testSettings } from '../../../test/support/settings.ts';
import { until } from '../../../test/support/until.ts';

const skip = skipWithoutPostgres();
let postgres: TestPostgres;
let backend: TestBackend;
let folder = '';

before(async () => {
  if (skip !== false) return;
  postgres = await startPostgres();
  backend = await startBackend();
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-nodes-'));
});

after(async () => {
  if (skip !== false) return;
  await backend.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

function startNode(name: string): Promise<TestGateway> {
  const prefix = join(folder, name);
  const { host, port, user, password, database } = postgres;
  const pg = { ...testSettings({ prefix }).pg, host, port, user, password, database, timeout: 2000 };
  return startTestGateway({ settings: { prefix, database: 'postgres', pg } });
}

async function addRoute(node: TestGateway, name: string): Promise<void> {
  assert.equal((await node.admin('PUT', `/services/${name}`, { url: backend.url })).status, 200);
  assert.equal((await node.admin('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] })).status, 200);
}

async function statusOf(node: TestGateway, path: string): Promise<number> {
  const response = await fetch(node.proxyUrl + path);
  await response.arrayBuffer();
  return response.status;
}

function errorLog(node: TestGateway): Promise<string> {
  return readFile(join(node.prefix, 'error.log'), 'utf8');
}

test('a write on one node is routed on the other within a second', { skip }, async () => {
  const [one, two] = await Promise.all([startNode('one'), startNode('two')]);
  try {
    const took = await leastTime(1000, async () => {
      await addRoute(one, 'shared');
      await until(async () => (await statusOf(two, '/shared')) === 200);
      await two.admin('DELETE', '/routes/shared');
      await until(async () => (await statusOf(one, '/shared')) === 404);
    });
    assert.ok(took < 1000, `${Math.round(took)} ms`);
  } finally {
    await Promise.all([one.stop(), two.stop()]);
  }
});

test('a node continues without its database, restarts without it, and catches up', { skip }, async () => {
  const first = await startNode('alone');
  await addRoute(first, 'before');
  await postgres.crash();
  assert.equal(await statusOf(first, '/before'), 200);
  assert.ok((await first.admin('GET', '/services')).status >= 500);
  assert.equal((await fetch(`${first.statusUrl}/status/ready`)).status, 200, 'ready means that it serves');
  await first.stop();

  const second = await startNode('alone');
  try {
    assert.equal(await statusOf(second, '/before'), 200);
    assert.match(await errorLog(second), /uses the last good config/);
    await postgres.restart();
    await until(async () => (await second.admin('GET', '/services')).status === 200);
    await addRoute(second, 'later');
    assert.equal(await statusOf(second, '/later'), 200);
    assert.equal(await statusOf(second, '/before'), 200);
  } finally {
    await second.stop();
  }
});

test('changes made while a node had no database arrive when it is available again', { skip }, async () => {
  const one = await startNode('stale');
  await addRoute(one, 'stale');
  await one.stop();
  const other = await startNode('other');
  assert.equal((await other.admin('DELETE', '/routes/stale')).status, 204);
  await addRoute(other, 'fresh');
  await other.stop();
  await postgres.crash();
  const back = await startNode('stale');
  try {
    assert.equal(await statusOf(back, '/stale'), 200);
    assert.equal(await statusOf(back, '/fresh'), 404);
    await postgres.restart();
    await until(async () => (await statusOf(back, '/fresh')) === 200);
    assert.equal(await statusOf(back, '/stale'), 404);
  } finally {
    await back.stop();
  }
});

test('a copy that is damaged or of an older format is not used, and the error says so', { skip }, async () => {
  const node = await startNode('damaged');
  await addRoute(node, 'damaged');
  await node.stop();
  const path = join(folder, 'damaged', 'last-good.json');
  const whole = await readFile(path, 'utf8');
  await postgres.crash();
  try {
    await truncate(path, Math.floor(whole.length / 2));
    await assert.rejects(startNode('damaged'), /last-good\.json\) is not usable: the file is damaged$/);
    await writeFile(path, whole.replace('"format":1', '"format":0'));
    await assert.rejects(startNode('damaged'), /format 0 is not supported, this version reads format 1$/);
    await rm(path);
    await assert.rejects(startNode('damaged'), /the file does not exist$/);
  } finally {
    await postgres.restart();
  }
  await writeFile(path, 'rubbish');
  const healthy = await startNode('damaged');
  try {
    assert.equal(await statusOf(healthy, '/damaged'), 200, 'with the database the copy does not matter');
  } finally {
    await healthy.stop();
  }
});
