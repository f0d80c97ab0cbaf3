import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startDbLess } from '../support/db-less.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type Json, startWhatIfRig, summary } from './what-if-rig.fixture.ts';

/** What-if on a node without a database, and on PostgreSQL. */

describe('without a database', () => {
  it('tries documents, and refuses writes as the Admin API does', async () => {
    const route = { name: 'all', paths: ['/users'] };
    const document = (routes: readonly object[]) => ({
      _format_version: '3.0',
      services: [{ name: 'backend', host: '127.0.0.1', port: 1, retries: 0, routes }],
    });
    await using node = await startDbLess({
      env: { SLUICEGATE_TRAFFIC_RECORDER: '100' },
      document: document([route]),
    });
    assert.equal(await node.statusOf('/users'), 502);
    await until(async () => ((await node.admin('GET', '/traffic')).body as Json).recorder.kept === 1);
    const hash = await node.hash();
    const removed = await node.admin('POST', '/what-if', { config: document([]) });
    assert.equal(removed.status, 200, JSON.stringify(removed.body));
    assert.deepEqual(summary(removed.body), ['1: 502 gateway of all -> 404 gateway of no route']);
    const same = await node.admin('POST', '/what-if', { config: document([route]) });
    assert.deepEqual([(same.body as Json).changed, (same.body as Json).requests.undecided], [0, 0]);
    const change = { method: 'PATCH', path: '/routes/all', body: { paths: ['/other'] } };
    const refused = await node.admin('POST', '/what-if', { changes: [change] });
    const real = await node.admin(change.method, change.path, change.body);
    assert.equal(refused.status, real.status);
    assert.deepEqual(refused.body, { ...real.body, change: 0 });
    assert.equal(await node.hash(), hash);
  });
});

describe('with PostgreSQL', { skip: skipWithoutPostgres() }, () => {
  it('leaves nothing in the store, also next to writes that share the transaction', async () => {
    const postgres = await startPostgres();
    try {
      const rig = await startWhatIfRig({ settings: { database: 'postgres', pg: postgresSettings(postgres) } });
      try {
        await rig.send('/');
        await until(async () => ((await rig.gateway.admin('GET', '/traffic')).body as Json).recorder.kept === 1);
        const changes = [
          { method: 'POST', path: '/services', body: { name: 'tried', host: 'x' } },
          { method: 'DELETE', path: '/routes/all' },
        ];
        const writes = Array.from({ length: 10 }, (_, number) => rig.write('PUT', `/consumers/c${number}`));
        const [report] = await Promise.all([rig.whatIf(changes), ...writes]);
        assert.deepEqual(summary(report), ['1: 200 backend of all -> 404 gateway of no route']);
        assert.equal((await rig.gateway.admin('GET', '/services/tried')).status, 404);
        assert.equal((await rig.gateway.admin('GET', '/routes/all')).status, 200);
        assert.equal(((await rig.gateway.admin('GET', '/consumers')).body['data'] as Json[]).length, 10);
        const twice = [changes[0], changes[0]];
        const conflict = await rig.gateway.admin('POST', '/what-if', { changes: twice });
        assert.deepEqual([conflict.status, conflict.body['change']], [409, 1]);
        await rig.write('POST', '/services', { name: 'tried', host: 'x' });
      } finally {
        await rig.close();
      }
    } finally {
      await postgres.stop();
    }
  });
});
