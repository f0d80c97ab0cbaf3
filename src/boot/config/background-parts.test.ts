import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BackgroundTools } from '../../plugin-sdk/background.ts';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import type { ConfiguredInstance } from '../../plugin-sdk/tools.ts';
import { testSettings } from '../../plugin-testing/index.ts';
import type { Row } from '../../shared/entities/entity.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { controlPlaneMeters, createPluginMeter } from '../../shared/zones/plugin-meter.ts';
import { BackgroundParts, type BackgroundPartsOptions } from './background-parts.ts';

/** A plugin that records what happens to its background part. */
function rig() {
  const events: string[] = [];
  const errors: string[] = [];
  const background = ({ signal }: BackgroundTools) => {
    events.push('start');
    signal.addEventListener('abort', () => events.push('abort'));
    return {
      configured: (instances: readonly ConfiguredInstance[]) => {
        events.push(`configured ${instances.map(({ id, config }) => `${id}=${JSON.stringify(config)}`).join(' ')}`);
      },
      handle: async (message: unknown) => `heard ${String(message)}`,
      stop: () => void events.push('stop'),
    };
  };
  const plugin = definePlugin({
    name: 'worker-bee',
    version: '1.0.0',
    priority: 1,
    protocols: httpProtocols,
    schema: { config: record({}) },
    background: async () => ({ background }),
    setup: () => ({}),
  });
  const log = { error: (text: string) => errors.push(text), child: () => log } as unknown as ErrorLog;
  const parts = new BackgroundParts({
    plugins: new Map([[plugin.name, plugin]]),
    zone: () => null,
    store: {} as BackgroundPartsOptions['store'],
    settings: testSettings,
    metrics: () => Promise.resolve([]),
    count: () => {},
    broadcast: async () => false,
    nodeId: 'node',
    log,
    meters: controlPlaneMeters(createPluginMeter(0)),
  });
  const change = async (delta: Partial<SnapshotDelta>): Promise<readonly string[]> => {
    parts.configChanged({ version: 1, full: false, upserts: {}, removes: {}, ...delta });
    await parts.handle('worker-bee', 'wait');
    return events.splice(0);
  };
  return { parts, change, events, errors };
}

const row = (id: string, config: object, enabled = true): Row => ({
  id,
  created_at: 1,
  name: 'worker-bee',
  enabled,
  config,
});

test('it starts with the first instance, follows changes and stops after the last one', async () => {
  const { change, parts } = rig();
  assert.deepEqual(await change({ full: true, upserts: { plugins: [] } }), []);
  assert.equal(await parts.handle('worker-bee', 'too early'), null);
  assert.deepEqual(await change({ upserts: { plugins: [row('a', { n: 1 })] } }), ['start', 'configured a={"n":1}']);
  assert.equal(await parts.handle('worker-bee', 'hello'), 'heard hello');
  assert.deepEqual(await change({ upserts: { plugins: [row('b', {})] } }), ['configured a={"n":1} b={}']);
  assert.deepEqual(await change({ upserts: { plugins: [row('a', {}, false)] } }), ['configured b={}']);
  assert.deepEqual(await change({ removes: { plugins: ['b'] } }), ['abort', 'stop']);
  assert.equal(await parts.handle('worker-bee', 'too late'), null);
});

test('changes of other plugins and entities are ignored', async () => {
  const { change } = rig();
  const other: Row = { ...row('x', {}), name: 'cors' };
  assert.deepEqual(await change({ upserts: { plugins: [other], services: [row('s', {})] } }), []);
  await change({ upserts: { plugins: [row('a', {})] } });
  assert.deepEqual(await change({ removes: { plugins: ['x'], services: ['s'] } }), []);
});

test('a whole config replaces the instances, and the end of the node ends it', async () => {
  const { change, parts, events } = rig();
  await change({ upserts: { plugins: [row('a', {}), row('b', {})] } });
  assert.deepEqual(await change({ full: true, upserts: { plugins: [row('b', { n: 2 })] } }), ['configured b={"n":2}']);
  await parts.stop();
  assert.deepEqual(events, ['abort', 'stop']);
});

test('when the node begins to stop, it is notified and still answers until it is stopped', async () => {
  const { change, parts, events } = rig();
  await change({ upserts: { plugins: [row('a', {})] } });
  parts.abort();
  assert.deepEqual(events.splice(0), ['abort']);
  assert.equal(await parts.handle('worker-bee', 'hello'), 'heard hello');
  assert.deepEqual(await change({ upserts: { plugins: [row('b', {})] } }), []);
  await parts.stop();
  assert.deepEqual(events, ['stop']);
});

test('an instance with a reference to a vault is excluded', async () => {
  const { change } = rig();
  assert.deepEqual(await change({ upserts: { plugins: [row('a', { secret: '{vault://env/x}' })] } }), []);
});
