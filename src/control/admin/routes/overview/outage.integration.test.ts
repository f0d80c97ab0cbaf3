import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestGateway } from '../../../../../test/support/gateway.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../../../../../test/support/postgres.ts';
import { until } from '../../../../../test/support/until.ts';
import { openEvents } from './event-client.fixture.ts';

interface Database {
  readonly kind: string;
  readonly reachable: boolean;
}

test('while the database hangs, the overview says so and shows the traffic', {
  skip: skipWithoutPostgres(),
}, async () => {
  const server = await startPostgres();
  const settings = {
    database: 'postgres',
    pg: postgresSettings(server, 1_000),
    adminToken: 'token-of-this-test',
  } as const;
  const headers = { authorization: `Bearer ${settings.adminToken}` };
  try {
    await using gateway = await startTestGateway({ settings });
    using live = await openEvents(`${gateway.adminUrl}/overview/live`, headers);
    const read = async () =>
      (await fetch(`${gateway.adminUrl}/overview`, { headers })).json() as Promise<Record<string, unknown>>;
    assert.deepEqual((await read())['database'], { kind: 'postgres', reachable: true });
    server.freeze();
    try {
      let longest = 0;
      await until(async () => {
        const begun = performance.now();
        const { database } = await read();
        longest = Math.max(longest, performance.now() - begun);
        return !(database as Database).reachable;
      }, 15_000);
      assert.ok(longest < 2_500, `a document took ${longest} ms`);
      await live.seen('state', (events) =>
        events.some(({ data }) => (data['database'] as Database | undefined)?.reachable === false),
      );
      await fetch(`${gateway.proxyUrl}/nowhere`);
      await live.seen('second', (events) => events.some(({ data }) => data['requests'] === 1));
    } finally {
      server.thaw();
    }
    await until(async () => ((await read())['database'] as Database).reachable, 15_000);
    assert.deepEqual(live.events('end'), []);
  } finally {
    await server.stop();
  }
});
