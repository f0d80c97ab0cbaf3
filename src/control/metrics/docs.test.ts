import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import { metrics as circuits } from '../../plugins/circuit-breaker/metrics.ts';
import { healthFamily } from '../../plugins/prometheus/health.ts';
import { requestFamilies } from '../../plugins/prometheus/request-families.ts';
import { createCounters } from '../../shared/zones/counters.ts';
import type { CoreFacts } from './core-facts.ts';
import { counter } from './families.ts';
import { hybridFamilies } from './hybrid-families.ts';
import { kongFamilies } from './kong-families.ts';
import { nodeFamilies } from './node-families.ts';

const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');

const facts: CoreFacts = {
  node: {
    nodeId: 'n',
    version: '1',
    pids: { master: 1, workers: [2] },
    connections: () => ({
      accepted: 9,
      handled: 8,
      active: 5,
      reading: 0,
      writing: 2,
      waiting: 3,
      totalRequests: 7,
      shed: 0,
    }),
    memory: async () => [{ worker: 0, heapUsed: 1 }],
    zones: () => [],
    pluginCounts: () => ({}),
  },
  counters: createCounters(1),
  linesLost: () => 0,
  plugins: () => [],
  workers: () => ({ wanted: 1, running: [] }),
  restarts: () => 0,
  stuck: () => 0,
  descriptors: () => ({ open: 10, limit: 100, exhaustions: 0 }),
  ping: async () => {},
  dns: async () => ({ servers: [], counts: {}, names: [], size: 0 }),
  inFlight: () => 0,
  config: () => ({ version: 1, failures: 0, age: 0 }),
  analytics: () => null,
};

async function everyFamily(): Promise<readonly MetricFamily[]> {
  const none = { readers: [{ known: () => [], overflow: () => new Float64Array(99) }] as never, cells: 1 };
  const tools = { instances: () => [], zone: () => null, upstreams: () => [], background: async () => [] };
  return [
    ...(await kongFamilies(facts)),
    ...(await nodeFamilies(facts)),
    ...(await hybridFamilies({ dataPlanes: async () => [], clusterCertificateExpiry: 0 })),
    ...requestFamilies({ requests: none, times: none, bytes: none }),
    healthFamily(tools),
    ...(await circuits(tools)),
    counter('sluicegate_metric_errors_total', '', [], []),
  ];
}

test('docs/metrics.md lists every metric with its type and labels, and nothing else', async () => {
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]+) \|/gm)].map((row) => row.slice(1, 4).join(' | '));
  const there = (await everyFamily()).map(({ name, type, labelNames }) =>
    [name, type, labelNames.length === 0 ? '–' : labelNames.join(', ')].join(' | '),
  );
  assert.deepEqual([...listed].sort(), [...there].sort());
});

test('a store that does not answer is reported as unreachable after a timeout', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const collecting = kongFamilies({ ...facts, ping: () => new Promise(() => {}) });
  t.mock.timers.tick(1000);
  const families = await collecting;
  const reachable = families.find(({ name }) => name === 'kong_datastore_reachable');
  assert.deepEqual([...(reachable?.series ?? [])], [{ labels: [], value: 0 }]);
});
