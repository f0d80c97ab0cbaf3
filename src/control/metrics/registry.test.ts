import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { definePlugin } from '../../plugin-sdk/define-plugin.ts';
import type { MetricFamily, PluginMetricsModule } from '../../plugin-sdk/metrics.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { gauge } from './families.ts';
import { MetricsRegistry } from './registry.ts';

function telling(name: string, metrics: PluginMetricsModule['metrics'] | Error) {
  return definePlugin<unknown>({
    name,
    version: '1.0.0',
    priority: 1,
    protocols: ['http'],
    schema: () => Promise.reject(new Error('not requested')),
    metrics: () => (metrics instanceof Error ? Promise.reject(metrics) : Promise.resolve({ metrics })),
    setup: () => ({}),
  });
}

function open(...plugins: ReturnType<typeof telling>[]) {
  const lines: unknown[] = [];
  const registry = new MetricsRegistry({
    plugins: new Map(plugins.map((plugin) => [plugin.name, plugin])),
    zone: () => null,
    upstreams: () => [],
    background: async () => null,
    log: { warn: (_message, fields) => void lines.push(fields?.['error']) },
  });
  return { registry, lines };
}

function rows(...plugins: readonly Readonly<Record<string, unknown>>[]): SnapshotDelta {
  return { version: 1, full: false, upserts: { plugins: plugins as never }, removes: {} };
}

async function names(registry: MetricsRegistry): Promise<readonly string[]> {
  return (await registry.collect()).map(({ name }) => name).filter((name) => !name.startsWith('sluicegate_'));
}

test('plugins report metrics while they have an enabled instance', async () => {
  const seen: unknown[] = [];
  const { registry } = open(
    telling('one', ({ instances }) => {
      seen.push(instances().map(({ id, config }) => [id, config]));
      return [gauge('one_now', 'One', [], [[1]])];
    }),
  );
  assert.deepEqual(await names(registry), []);
  registry.configChanged(rows({ id: 'a', name: 'one', config: { x: 1 } }, { id: 'b', name: 'one', enabled: false }));
  assert.deepEqual(await names(registry), ['one_now']);
  assert.deepEqual(seen, [[['a', { x: 1 }]]]);
  assert.equal(registry.isInUse('one'), true);
  registry.configChanged({ ...rows(), removes: { plugins: ['a'] } });
  assert.deepEqual(await names(registry), []);
  registry.configChanged(rows({ id: 'a', name: 'one', config: {} }));
  registry.configChanged({ ...rows({ id: 'c', name: 'other', config: {} }), full: true });
  assert.equal(registry.isInUse('one'), false);
});

test('metrics that cannot be collected do not affect the others', async (t) => {
  const bad = (family: Partial<MetricFamily>): MetricFamily =>
    ({ ...gauge('x', 'X', [], []), ...family }) as MetricFamily;
  const { registry, lines } = open(
    telling('throws', () => {
      throw new Error('broken');
    }),
    telling('hangs', () => new Promise(() => {})),
    telling('missing', new Error('no module')),
    telling('odd', () => [
      bad({ name: 'a b' }),
      bad({ labelNames: ['__name__'] }),
      bad({ labelNames: ['a"'] }),
      bad({ labelNames: ['a', 'a'] }),
      bad({ name: 'good' }),
      bad({ name: 'good' }),
    ]),
  );
  registry.configChanged(
    rows(...['throws', 'hangs', 'missing', 'odd'].map((name) => ({ id: name, name, config: {} }))),
  );
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const found = names(registry);
  await nextTurn();
  t.mock.timers.tick(3000);
  assert.deepEqual(await found, ['good']);
  registry.configChanged({ ...rows(), removes: { plugins: ['hangs'] } });
  const errors = (await registry.collect()).find(({ name }) => name === 'sluicegate_metric_errors_total');
  assert.equal([...(errors?.series ?? [])][0] !== undefined, true);
  assert.equal(lines.length, 1, 'a page that is scraped every second does not fill the error log');
});
