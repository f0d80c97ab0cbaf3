import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '../support/node-in-prefix.ts';
import { skipWithoutPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { previousVersion } from '../support/previous-version.ts';
import { until } from '../support/until.ts';
import { type ClusterNode, create, databaseEnv, startClusterNode } from './nodes.fixture.ts';

const skip = skipWithoutPostgres();
const status = { name: 'request-termination', config: { status_code: 200 } };

describe('the version before and this one on one database', { skip }, () => {
  let server: TestPostgres;
  let entry: string;
  before(async () => {
    server = await startPostgres();
    ({ entry } = await previousVersion());
  });
  after(() => server?.stop());

  const migrations = (action: string, ...args: readonly string[]) =>
    runCommand(['migrations', action, ...args], databaseEnv(server));

  async function createRoute(node: ClusterNode, name: string): Promise<void> {
    await create(node, '/services', { name, url: 'http://127.0.0.1:9', tags: ['written'] });
    await create(node, `/services/${name}/routes`, { name, paths: [`/${name}/`] });
    await create(node, `/services/${name}/plugins`, status);
  }

  const routed = (node: ClusterNode, name: string) => until(async () => (await node.proxy(`/${name}/`)) === 200);

  it('serve the same config, each with the writes of the other one, also after restarts', async () => {
    let old = await startClusterNode(server, { entry });
    await createRoute(old, 'before');
    const up = await migrations('up');
    assert.equal(up.code, 0, up.output);
    await routed(old, 'before');
    await using fresh = await startClusterNode(server);
    await routed(fresh, 'before');
    await createRoute(old, 'by-old');
    await createRoute(fresh, 'by-new');
    await routed(fresh, 'by-old');
    await routed(old, 'by-new');

    // Each changes what the other one has written.
    for (const [node, other, name] of [
      [old, fresh, 'by-new'],
      [fresh, old, 'by-old'],
    ] as const) {
      const before = (await other.admin('GET', `/services/${name}`)).body;
      const patched = await node.admin('PATCH', `/services/${name}`, { retries: 7 });
      assert.equal(patched.status, 200, JSON.stringify(patched.body));
      const after = (await other.admin('GET', `/services/${name}`)).body;
      assert.deepEqual({ ...after, updated_at: 0 }, { ...before, retries: 7, updated_at: 0 });
    }

    // A node of the version before still starts.
    await old[Symbol.asyncDispose]();
    old = await startClusterNode(server, { entry });
    for (const name of ['before', 'by-old', 'by-new']) await routed(old, name);

    // One of two simultaneous writes gets a name.
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        [old, fresh].map((node) => node.admin('POST', '/consumers', { username: `user-${round}` })),
      );
      assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, 409]);
    }
    const deleted = await fresh.admin('DELETE', '/routes/by-old');
    assert.equal(deleted.status, 204);
    await until(async () => (await old.proxy('/by-old/')) === 404);
    await old[Symbol.asyncDispose]();

    const finish = await migrations('finish');
    assert.equal(finish.code, 0, finish.output);
    assert.equal((await migrations('list')).code, 0);
    await createRoute(fresh, 'at-last');
    await routed(fresh, 'at-last');
  });
});
