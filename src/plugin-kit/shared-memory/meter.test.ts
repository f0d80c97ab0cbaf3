import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import { counter, histogram, metricsOf } from './index.ts';

const requests = counter({ name: 'meter_requests_total', help: 'Requests', labels: ['method'], entries: 1 });
const sizes = histogram({ name: 'meter_size_bytes', help: 'Sizes', bounds: [10, 100] });

const metered = definePlugin({
  name: 'meter',
  version: '1.0.0',
  priority: 1,
  protocols: httpProtocols,
  schema: { config: record({}) },
  zones: () => [requests.zone, sizes.zone],
  metrics: metricsOf(requests, sizes),
  setup(_, tools) {
    const counted = requests.open(tools);
    const sized = sizes.open(tools);
    return {
      access({ request }) {
        counted([request.queryArgument('kind') ?? request.method]);
        sized(Number(request.queryArgument('size')));
        return undefined;
      },
    };
  },
});

test('a counter and a histogram are families of the plugin', async () => {
  const plugin = testPlugin(metered);
  for (const size of [10, 11, 1000]) await plugin.request({ path: `/?size=${size}` });
  const [total, bytes] = await plugin.metrics();
  assert.deepEqual(total?.type === 'counter' && [...total.series], [{ labels: ['GET'], value: 3 }]);
  const [series] = bytes?.type === 'histogram' ? bytes.series : [];
  assert.deepEqual([Array.from(series?.counts ?? []), series?.sum, series?.labels], [[1, 1, 1], 1021, []]);
});

test('labels without a place are counted together', async () => {
  const plugin = testPlugin(metered);
  for (let kind = 0; kind < 1000; kind++) await plugin.request({ path: `/?kind=${'x'.repeat(400)}${kind}` });
  const [total] = await plugin.metrics();
  const series = total?.type === 'counter' ? [...total.series] : [];
  assert.equal(
    series.reduce((sum, { value }) => sum + value, 0),
    1000,
  );
  assert.equal(series.at(-1)?.labels[0], '(other)');
});
