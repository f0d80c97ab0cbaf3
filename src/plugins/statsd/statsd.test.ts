import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStatsdLine, type StatsdDialect } from '../../../test/support/statsd-server.ts';
import type { TrafficSample } from '../../plugin-kit/telemetry/statsd/index.ts';
import type { BackgroundTools } from '../../plugin-sdk/index.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import { background } from './background.ts';
import statsd from './index.ts';
import { requestLines } from './request-lines.ts';
import type { StatsdConfig } from './schema.ts';

const service = {
  id: '11111111-1111-4111-8111-111111111111',
  name: 'users',
  host: 'users.internal',
  port: 80,
  protocol: 'http',
  path: null,
  tags: [],
};
const route = { id: '22222222-2222-4222-8222-222222222222', name: 'all', tags: [] };
const consumer = { id: '33333333-3333-4333-8333-333333333333', username: 'ada', customId: 'a-1', tags: [] };
const measures = { status: 200, total: 20, gateway: 3, upstream: 15, bytesReceived: 120, bytesSent: 340 };
const sample: TrafficSample = { service, route, consumer, ...measures };

async function checked(config: Readonly<Record<string, unknown>> = {}): Promise<StatsdConfig> {
  const outcome = await testPlugin(statsd).check(config);
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.config as unknown as StatsdConfig;
}

async function linesOf(config: Readonly<Record<string, unknown>>, told = sample, draw = 0): Promise<readonly string[]> {
  const lines: string[] = [];
  requestLines(await checked(config), 'gw.example').write(told, draw, (line) => lines.push(line));
  return lines;
}

test("sends Kong's metrics, names and types for a request", async () => {
  assert.deepEqual(await linesOf({}), [
    'kong.service.users.request.count:1|c',
    'kong.service.users.latency:20|ms',
    'kong.service.users.request.size:120|c',
    'kong.service.users.status.200:1|c',
    'kong.service.users.response.size:340|c',
    'kong.service.users.user.uniques:a-1|s',
    'kong.service.users.user.a-1.request.count:1|c',
    'kong.service.users.upstream_latency:15|ms',
    'kong.service.users.kong_latency:3|ms',
    'kong.service.users.user.a-1.status.200:1|c',
    'kong.service.users.workspace.default.status.200:1|c',
    `kong.route.${route.id}.user.a-1.status.200:1|c`,
  ]);
});

test('sends fewer metrics for a request without a backend or without a route', async () => {
  const lines = await linesOf({}, { ...sample, service: null, route: null, consumer: null, status: 404, upstream: -1 });
  assert.deepEqual(
    lines.map((line) => line.replace(/:.*/, '')),
    [
      'kong.global.unmatched.request.count',
      'kong.global.unmatched.latency',
      'kong.global.unmatched.request.size',
      'kong.global.unmatched.status.404',
      'kong.global.unmatched.response.size',
      'kong.global.unmatched.kong_latency',
      'kong.global.unmatched.workspace.default.status.404',
    ],
  );
});

test('names service and consumer by the configured identifiers, for all metrics or for one', async () => {
  const count = { name: 'request_count', stat_type: 'counter', sample_rate: 1 };
  const user = { name: 'request_per_user', stat_type: 'counter', sample_rate: 1 };
  const lines = await linesOf({
    prefix: 'edge.eu',
    hostname_in_prefix: true,
    consumer_identifier_default: 'username',
    service_identifier_default: 'service_host',
    metrics: [
      count,
      { ...count, service_identifier: 'service_id' },
      user,
      { ...user, consumer_identifier: 'consumer_id' },
    ],
  });
  assert.deepEqual(lines, [
    'edge.eu.node.gw_example.service.users_internal.request.count:1|c',
    `edge.eu.node.gw_example.service.${service.id}.request.count:1|c`,
    'edge.eu.node.gw_example.service.users_internal.user.ada.request.count:1|c',
    `edge.eu.node.gw_example.service.users_internal.user.${consumer.id}.request.count:1|c`,
  ]);
  const nameless = { ...sample, consumer: { ...consumer, customId: null } };
  assert.equal((await linesOf({ metrics: [user] }, nameless)).length, 0);
});

test('sends stat types, with sample rates for those that servers scale', async () => {
  const metrics = [
    { name: 'latency', stat_type: 'timer', sample_rate: 0.5 },
    { name: 'latency', stat_type: 'histogram', sample_rate: 0.25 },
    { name: 'latency', stat_type: 'gauge', sample_rate: 0.5 },
    { name: 'latency', stat_type: 'meter', sample_rate: 0.1 },
    { name: 'latency', stat_type: 'set', sample_rate: 0.1 },
    { name: 'request_count', stat_type: 'counter', sample_rate: 0.0000001 },
    { name: 'request_count', stat_type: 'counter', sample_rate: 5 },
  ];
  const ends = (lines: readonly string[]) => lines.map((line) => line.replace(/^[^:]*:/, ''));
  assert.deepEqual(ends(await linesOf({ metrics })), [
    '20|ms|@0.5',
    '20|h|@0.25',
    '20|g',
    '20|m',
    '20|s',
    '1|c|@0.0000001',
    '1|c',
  ]);
  assert.deepEqual(ends(await linesOf({ metrics }, sample, 0.3)), ['20|ms|@0.5', '20|g', '20|m', '20|s', '1|c']);
  const { share } = requestLines(await checked({ metrics: metrics.slice(0, 2) }), 'gw');
  assert.equal(share, 0.5);
});

const tagged: Readonly<Record<Exclude<StatsdDialect, 'plain'>, string>> = {
  dogstatsd: 'kong.status:1|c|@0.5|#service:users,route:all,consumer:a-1,workspace:default,status:200',
  influxdb: 'kong.status,service=users,route=all,consumer=a-1,workspace=default,status=200:1|c|@0.5',
  librato: 'kong.status#service=users,route=all,consumer=a-1,workspace=default,status=200:1|c|@0.5',
  signalfx: 'kong.status[service=users,route=all,consumer=a-1,workspace=default,status=200]:1|c|@0.5',
};

for (const [style, line] of Object.entries(tagged)) {
  test(`sends tags in the style of ${style}`, async () => {
    const metrics = [{ name: 'status_count', stat_type: 'counter', sample_rate: 0.5 }];
    assert.deepEqual(await linesOf({ tag_style: style, metrics }), [line]);
    const all = (await linesOf({ tag_style: style })).map((one) => parseStatsdLine(one, style as StatsdDialect));
    assert.equal(all.length, 12);
    assert.ok(all.every(({ name, tags }) => name.startsWith('kong.') && tags['consumer'] === 'a-1'));
  });
}

test('escapes names that would forge a line, in every dialect', async () => {
  const evil = 'a.b:1|c\nkong.forged:9|c|@0.1|#x:y,z=1];t\r\u2028[#\u0000,\\';
  const told = {
    ...sample,
    service: { ...service, name: evil },
    route: { ...route, name: evil },
    consumer: { ...consumer, customId: evil, username: `${'ä'.repeat(250)}\ud800` },
  };
  for (const style of [null, 'dogstatsd', 'influxdb', 'librato', 'signalfx'] as const) {
    for (const by of ['custom_id', 'username']) {
      const lines = await linesOf({ tag_style: style, consumer_identifier_default: by }, told);
      assert.equal(lines.length, 12);
      for (const line of lines) {
        // A semicolon begins the tags of Graphite, which often stores StatsD metrics.
        assert.ok(!/[;\r\n\0\u2028]/.test(line) && line.isWellFormed());
        const parsed = parseStatsdLine(line, style ?? 'plain');
        assert.match(parsed.name, /^kong\./);
        assert.equal(parsed.rate, 1);
      }
    }
  }
});

test('does not report statuses outside of the allowed ranges', async () => {
  const lines = requestLines(await checked({ allow_status_codes: ['200-204', '404-404'] }), 'gw');
  assert.deepEqual(
    [199, 200, 204, 205, 404, 500].map((status) => lines.takes(status)),
    [false, true, true, false, true, false],
  );
});

test('refuses an invalid configuration and names the field', async () => {
  const { check } = testPlugin(statsd);
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ host: 'no host' }, /config\.host: invalid value/],
    [{ port: 70_000 }, /config\.port: value should be between 0 and 65535/],
    [{ prefix: 'a:b' }, /config\.prefix: must not have/],
    [{ prefix: 'a\nb' }, /config\.prefix: must not have/],
    [{ prefix: 'a..b' }, /config\.prefix: must not have empty parts/],
    [{ metrics: [{ name: 'latency' }] }, /stat_type = "required field missing/],
    [{ metrics: [{ name: 'speed', stat_type: 'timer' }] }, /name = "expected one of/],
    [{ metrics: [{ name: 'latency', stat_type: 'gauge' }] }, /sample_rate = "required field missing/],
    [
      { metrics: [{ name: 'latency', stat_type: 'gauge', sample_rate: 0 }] },
      /sample_rate = "value must be greater than 0/,
    ],
    [{ metrics: [{ name: 'unique_users', stat_type: 'timer' }] }, /stat_type = "value must be set/],
    [{ allow_status_codes: ['2xx'] }, /allow_status_codes/],
    [{ allow_status_codes: ['300-200'] }, /the range is empty/],
    [{ udp_packet_size: 70_000 }, /udp_packet_size: value should be between 0 and 65507/],
    [{ tag_style: 'graphite' }, /tag_style: expected one of/],
  ];
  for (const [config, message] of cases) {
    const outcome = await check(config);
    assert.equal(outcome.ok, false, JSON.stringify(config));
    assert.match((outcome as { message: string }).message, message);
  }
});

test('collects node metrics once for all due instances', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let collected = 0;
  const metrics = async () => {
    collected++;
    return [];
  };
  const { signal } = new AbortController();
  const part = background({ metrics, signal, log: {}, count: () => {} } as unknown as BackgroundTools);
  const config = await checked({ host: '127.0.0.1' });
  await part.configured(Array.from({ length: 50 }, (_, at) => ({ id: String(at), config })));
  context.mock.timers.tick(1_000);
  assert.equal(collected, 1);
  await new Promise((resolve) => setImmediate(resolve));
  context.mock.timers.tick(60_000);
  assert.equal(collected, 2);
  await part.stop();
});
