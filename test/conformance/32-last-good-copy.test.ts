import assert from 'node:assert/strict';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type Cluster, type ClusterNode, put, startCluster, statusOf } from '../support/cluster.ts';
import { skipWithoutPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const skip = process.platform === 'linux' ? skipWithoutPostgres() : 'needs the loopback network of Linux';

const middle = (text: string): number => Math.floor(text.length / 2);

/** How the copy is damaged, and what the node says about it. */
const damages: readonly [string, (text: string) => string, RegExp][] = [
  ['is cut off', (text) => text.slice(0, middle(text)), /the file is damaged/],
  ['is empty', () => '', /not a file of this kind/],
  ['has another byte', (text) => `${text.slice(0, -20)}x${text.slice(-19)}`, /the file is damaged/],
  [
    'has the format of another version',
    (text) => text.replace('"format":1', '"format":2'),
    /format 2 is not supported/,
  ],
];

describe('Case 32: the copy of the last good config of one node of two', { skip }, () => {
  let cluster: Cluster;
  let backend: TestBackend;
  let healthy: ClusterNode;
  let damaged: ClusterNode;
  let saved = '';
  let path = '';

  before(async () => {
    backend = await startBackend();
    cluster = await startCluster({ nodes: 2, env: { SLUICEGATE_LAST_GOOD_WAIT: '0s' } });
    [healthy, damaged] = [cluster.node(0), cluster.node(1)];
    path = join(damaged.prefix, 'last-good.json');
    assert.equal(await put(healthy, '/services/s', { url: backend.url }), 200);
    assert.equal(await put(healthy, '/services/s/routes/r', { paths: ['/r'] }), 200);
    await until(async () => (await statusOf(damaged, '/r')) === 200);
    await damaged.stop();
    saved = await readFile(path, 'utf8');
    await cluster.postgres.crash();
  });

  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await backend?.close();
  });

  for (const [what, damage, message] of damages) {
    it(`${what}: while the database is down the node does not start, and says why; the other one serves`, async () => {
      const text = damage(saved);
      assert.notEqual(text, saved);
      await writeFile(path, text);
      await assert.rejects(damaged.start());
      assert.equal(await damaged.process.exit, 1);
      assert.match(damaged.process.output(), message);
      assert.equal(await statusOf(healthy, '/r'), 200);
    });
  }

  it('is unharmed, or that of the other node: the node starts', async () => {
    await until(async () => (await readFile(join(healthy.prefix, 'last-good.json'), 'utf8')).includes('"/r"'));
    await copyFile(join(healthy.prefix, 'last-good.json'), path);
    await damaged.start();
    assert.equal(await statusOf(damaged, '/r'), 200);
    await damaged.kill();
  });

  it('is damaged while the database answers: the node starts, and writes a new one', async () => {
    await writeFile(path, 'rubbish');
    await cluster.postgres.restart();
    await damaged.start();
    assert.equal(await statusOf(damaged, '/r'), 200);
    await until(async () => (await readFile(path, 'utf8')).includes('"/r"'));
  });
});
