import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStatsdLine } from '../../../test/support/statsd-server.ts';
import type { TrafficSample } from '../../plugin-kit/telemetry/statsd/index.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import datadog from './index.ts';
import { datadogLines } from './metric-lines.ts';
import type { DatadogConfig } from './schema.ts';

const service = {
  id: '11111111-1111-4111-8111-111111111111',
  name: 'users',
  host: 'users.internal',
  port: 80,
  protocol: 'http',
  path: null,
  tags: [],
};
const consumer = { id: '33333333-3333-4333-8333-333333333333', username: 'ada', customId: 'a-1', tags: [] };
const measures = { status: 200, total: 20, gateway: 3, upstream: 15, bytesReceived: 120, bytesSent: 340 };
const sample: TrafficSample = { service, route: null, consumer, ...measures };

async function linesOf(config: Readonly<Record<string, unknown>>, told = sample, draw = 0): Promise<readonly string[]> {
  const outcome = await testPlugin(datadog).check(config);
  assert.ok(outcome.ok, JSON.stringify(outcome));
  const lines: string[] = [];
  datadogLines(outcome.config as unknown as DatadogConfig).write(told, draw, (line) => lines.push(line));
  return lines;
}

test("sends Kong's metrics, types and tags for a request", async () => {
  const tags = 'name:users,status:200,consumer:a-1,app:kong';
  assert.deepEqual(await linesOf({}), [
    `kong.request.count:1|c|#${tags}`,
    `kong.latency:20|ms|#${tags}`,
    `kong.request.size:120|ms|#${tags}`,
    `kong.response.size:340|ms|#${tags}`,
    `kong.upstream_latency:15|ms|#${tags}`,
    `kong.kong_latency:3|ms|#${tags}`,
  ]);
});

test('sends fewer tags without service, consumer and backend', async () => {
  const lines = await linesOf({}, { ...sample, service: null, consumer: null, status: 404, upstream: -1 });
  assert.equal(lines.length, 5);
  assert.equal(lines[0], 'kong.request.count:1|c|#name:,status:404,app:kong');
});

test('applies prefix, tag names, own tags, rates and distributions', async () => {
  const config = {
    prefix: 'edge',
    service_name_tag: 'svc',
    status_tag: 'code',
    consumer_tag: 'who',
    metrics: [
      { name: 'request_count', stat_type: 'counter', sample_rate: 0.5, tags: ['env:prod', 'url:http://x'] },
      { name: 'latency', stat_type: 'distribution', sample_rate: 0.25, consumer_identifier: 'username' },
      { name: 'latency', stat_type: 'gauge', sample_rate: 1, consumer_identifier: 'consumer_id' },
      { name: 'request_size', stat_type: 'counter', sample_rate: 0 },
    ],
  };
  assert.deepEqual(await linesOf(config), [
    'edge.request.count:1|c|@0.5|#svc:users,code:200,env:prod,url:http://x',
    'edge.latency:20|d|@0.25|#svc:users,code:200,who:ada',
    `edge.latency:20|g|#svc:users,code:200,who:${consumer.id}`,
  ]);
  assert.equal((await linesOf(config, sample, 0.3)).length, 2);
});

test('escapes names that would forge a line or a tag', async () => {
  const evil = 'a.b:1|c\nkong.forged:9|c|@0.1|#x:y,z=1]\r\u2028[#\u0000,\\';
  const told = { ...sample, service: { ...service, name: evil }, consumer: { ...consumer, customId: evil } };
  const lines = await linesOf({}, told);
  for (const line of lines) {
    const { name, tags } = parseStatsdLine(line, 'dogstatsd');
    assert.match(name, /^kong\.[a-z_.]+$/);
    assert.deepEqual(Object.keys(tags), ['name', 'status', 'consumer', 'app']);
  }
});

test('refuses an invalid configuration and names the field', async () => {
  const { check } = testPlugin(datadog);
  const metric = { name: 'request_count', stat_type: 'counter', sample_rate: 1 };
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ host: 'http://agent' }, /config\.host: must not have a port/],
    [{ prefix: 'a|b' }, /config\.prefix: must not have/],
    [{ status_tag: 'a,b' }, /config\.status_tag: must not have/],
    [{ metrics: [{ ...metric, sample_rate: 2 }] }, /sample_rate = "value should be between 0 and 1/],
    [{ metrics: [{ ...metric, sample_rate: null }] }, /sample_rate = "required field missing/],
    [{ metrics: [{ ...metric, name: 'status_count' }] }, /name = "expected one of/],
    [{ metrics: [{ ...metric, tags: ['a:b\n'] }] }, /must not have spaces/],
    [{ metrics: [{ ...metric, tags: ['a,b'] }] }, /must not have spaces/],
  ];
  for (const [config, message] of cases) {
    const outcome = await check(config);
    assert.equal(outcome.ok, false, JSON.stringify(config));
    assert.match((outcome as { message: string }).message, message);
  }
});
