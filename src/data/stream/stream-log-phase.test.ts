import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, type PluginPhases } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';

const plugin = (name: string, priority: number, phases: PluginPhases) =>
  definePlugin({
    name,
    version: '1.0.0',
    priority,
    protocols: ['tcp', 'udp'],
    schema: { config: record({}) },
    setup: () => phases,
  });

test('the record of a stream has the fields of Kong', async () => {
  const logged: unknown[] = [];
  const { stream } = testPlugin(plugin('logger', 5, { streamLog: ({ measures }) => logged.push(measures) }));
  const { accepted, record: seen } = await stream({ received: 12, sent: 34, clientIp: '10.1.2.3' });
  assert.ok(accepted && seen !== null);
  const { started_at: startedAt, latencies, tries, route, service, ...rest } = seen;
  assert.deepEqual(rest, {
    session: { received: 12, sent: 34, status: 200, server_port: 9000 },
    upstream: { received: 34, sent: 12 },
    client_ip: '10.1.2.3',
    workspace: 'default',
    workspace_name: 'default',
  });
  assert.ok(Math.abs(Number(startedAt) - Date.now()) < 10_000);
  assert.deepEqual(Object.keys(latencies as object), ['kong', 'session']);
  const [attempt] = tries as Record<string, unknown>[];
  assert.equal(attempt?.['ip'], '127.0.0.1');
  assert.equal(attempt?.['port'], 9000);
  assert.equal('state' in (attempt ?? {}), false);
  assert.deepEqual(route, { id: '7f6b8c1e-0000-4000-8000-000000000001', name: 'test-route' });
  assert.equal((service as { name: string }).name, 'test-service');
  const [measures] = logged as { status: number; source: string; total: number; gateway: number }[];
  assert.equal(measures?.status, 200);
  assert.equal(measures?.source, 'upstream');
});

test('a stream that a plugin rejects is logged with status 403 and no tries', async () => {
  const { stream } = testPlugin(plugin('refuser', 5, { accept: () => false, streamLog: () => {} }));
  const { accepted, record: seen } = await stream({ received: 5 });
  assert.equal(accepted, false);
  assert.ok(seen !== null);
  assert.equal((seen['session'] as { status: number }).status, 403);
  assert.deepEqual(seen['tries'], []);
});

test('a plugin that throws is logged, and the later ones run; all get the same record', async () => {
  const records: unknown[] = [];
  const later = plugin('later', 1, { streamLog: (context) => records.push(context.record(), context.record()) });
  const thrower = plugin('thrower', 9, {
    streamLog(context) {
      records.push(context.record());
      throw new Error('broken');
    },
  });
  const { stream, logLines } = testPlugin(thrower, { otherPlugins: [{ plugin: later }] });
  await stream();
  assert.equal(records.length, 3);
  assert.equal(new Set(records).size, 1);
  assert.deepEqual(
    logLines.map(({ level, message, fields }) => [level, message, fields['phase'], fields['plugin']]),
    [['error', 'plugin failed', 'streamLog', 'thrower']],
  );
});

test('nothing is allocated when no plugin logs the end', async () => {
  const { stream } = testPlugin(plugin('guard', 5, { accept: () => true }));
  assert.deepEqual(await stream(), { accepted: true, record: null });
});
