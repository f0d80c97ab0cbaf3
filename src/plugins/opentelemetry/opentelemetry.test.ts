import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import opentelemetry from './index.ts';

const endpoint = 'http://127.0.0.1:1/v1/traces';

test('has the defaults of Kong', async () => {
  const result = await testPlugin(opentelemetry).check({ traces_endpoint: endpoint });
  assert.equal(result.ok, true);
  const { config } = result as { config: Record<string, unknown> };
  const { queue, propagation, ...flat } = config as Record<string, Record<string, unknown>>;
  assert.equal(queue?.['max_batch_size'], 200);
  assert.deepEqual(propagation, { extract: null, clear: null, inject: null, default_format: 'w3c' });
  assert.equal(flat['connect_timeout'], 1000);
  assert.equal(flat['send_timeout'], 5000);
  assert.equal(flat['read_timeout'], 5000);
  assert.equal(flat['header_type'], 'preserve');
  assert.equal(flat['sampling_rate'], null);
});

test('accepts endpoint for traces_endpoint', async () => {
  const result = await testPlugin(opentelemetry).check({ endpoint });
  assert.equal(result.ok && result.config['traces_endpoint'], endpoint);
});

for (const [config, message] of [
  [
    {},
    /at least one of these fields must be non-empty: 'config.traces_endpoint', 'config.logs_endpoint', 'config.metrics.endpoint'/,
  ],
  [{ traces_endpoint: 'collector:4318' }, /config.traces_endpoint: missing host in url/],
  [{ traces_endpoint: 'http://a:b' }, /config.traces_endpoint: host or port cannot be read/],
  [{ logs_endpoint: 'grpc://x' }, /config.logs_endpoint: must begin/],
  [{ traces_endpoint: endpoint, headers: { 'X-Key': 'a\nb' } }, /config.headers.*must not have control characters/s],
  [{ traces_endpoint: endpoint, headers: { 'a b': 'c' } }, /config.headers.*bad header name/s],
  [
    { traces_endpoint: endpoint, headers: { 'Content-Length': '1' } },
    /config.headers.*cannot contain 'Content-Length'/s,
  ],
  [{ traces_endpoint: endpoint, sampling_rate: 1.5 }, /config.sampling_rate: value should be between 0 and 1/],
  [{ traces_endpoint: endpoint, header_type: 'zip' }, /config.header_type: expected one of/],
  [{ traces_endpoint: endpoint, propagation: { inject: ['b4'] } }, /config.propagation.*inject.*expected one of/s],
  [{ traces_endpoint: endpoint, http_response_header_for_traceid: 'Content-Length' }, /config.http_response_header/],
] as const) {
  test(`refuses ${JSON.stringify(config)}`, async () => {
    const result = await testPlugin(opentelemetry).check(config as Record<string, unknown>);
    assert.equal(result.ok, false);
    assert.match((result as { message: string }).message, message);
  });
}

const tracing = { instrumentations: new Set(['router', 'balancer']), samplingRate: 0.25 };

for (const [config, draw, flag] of [
  [{ sampling_rate: 0.1 }, 0.0999, '01'],
  [{ sampling_rate: 0.1 }, 0.1, '00'],
  [{ sampling_rate: 0 }, 0, '00'],
  [{ sampling_rate: 1 }, 0.999_999, '01'],
  [{}, 0.2499, '01'],
  [{}, 0.25, '00'],
] as const) {
  test(`samples by the configured rate, else by the setting: ${JSON.stringify(config)}, ${draw}`, async () => {
    const plugin = testPlugin(opentelemetry, {
      config: { traces_endpoint: endpoint, ...config },
      settings: { tracing },
    });
    const { upstream, record } = await plugin.request({ draw, traced: flag === '01' });
    const header = upstream?.header('traceparent') ?? '';
    assert.match(header, new RegExp(`^00-[0-9a-f]{32}-[0-9a-f]{16}-${flag}$`));
    assert.deepEqual(record['trace_id'], { w3c: header.split('-')[1] });
    await plugin.dispose();
  });
}

test('makes the sampling decision even without spans', async () => {
  const off = { tracing: { instrumentations: new Set<string>(), samplingRate: 0.5 } };
  const plugin = testPlugin(opentelemetry, { config: { traces_endpoint: endpoint }, settings: off });
  assert.match((await plugin.request({ draw: 0.4 })).upstream?.header('traceparent') ?? '', /-01$/);
  assert.match((await plugin.request({ draw: 0.6 })).upstream?.header('traceparent') ?? '', /-00$/);
  const headers = { b3: '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331' };
  const { upstream } = await plugin.request({ draw: 0.4, traced: true, headers });
  assert.equal(upstream?.header('b3'), `${headers.b3}-1`);
  await plugin.dispose();
});
