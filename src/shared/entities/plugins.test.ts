import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportSchema } from '../schema/export/export.ts';
import { created, patched, refusal } from './expect-row.fixture.ts';
import { protocolProblem } from './plugins.ts';
import { testRegistry } from './registry.fixture.ts';
import { inferInput, presentRow, schemaOf } from './rows.ts';

const plugins = testRegistry().byName('plugins');
assert.ok(plugins !== undefined);

const consumer = { id: '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10' };

test('an instance gets the defaults of its plugin', () => {
  const { id: _id, created_at: _created, updated_at: _updated, ...rest } = created(plugins, { name: 'limiter' });
  assert.deepEqual(rest, {
    name: 'limiter',
    route: null,
    service: null,
    consumer: null,
    config: { minute: null, policy: 'local', redis: { host: null, port: 6379 } },
    protocols: ['grpc', 'grpcs', 'http', 'https'],
    enabled: true,
    tags: null,
    instance_name: null,
  });
});

const refusals: readonly [body: Record<string, unknown>, message: string][] = [
  [{}, 'schema violation (name: required field missing)'],
  [{ name: 5 }, 'schema violation (name: expected a string)'],
  [
    { name: 'x', config: { a: 1 } },
    "schema violation (name: plugin 'x' not enabled; add it to the 'plugins' configuration property)",
  ],
  [{ name: 'limiter', config: { minute: 0 } }, 'schema violation (config.minute: value must be greater than 0)'],
  [{ name: 'limiter', config: { nope: 1 } }, 'schema violation (config.nope: unknown field)'],
  [{ name: 'limiter', config: 5 }, 'schema violation (config: expected a record)'],
  [
    { name: 'limiter', config: { redis: { port: 'x' } } },
    'schema violation (config.redis: {\n  port = "expected an integer"\n})',
  ],
  [
    { name: 'limiter', config: { redis_host: 'a', redis: { host: 'b' } } },
    'schema violation (config.redis_host: both deprecated and new field are used but their values mismatch: redis_host = a vs redis.host = b)',
  ],
  [{ name: 'limiter', config: { redis_host: 5 } }, 'schema violation (config.redis_host: expected a string)'],
  [
    { name: 'limiter', protocols: ['tcp'] },
    'schema violation (protocols.1: expected one of: grpc, grpcs, http, https)',
  ],
  [{ name: 'code', consumer, config: { log: ['x'] } }, 'schema violation (consumer: value must be null)'],
  [
    { name: 'code' },
    "schema violation (at least one of these fields must be non-empty: 'config.access', 'config.log')",
  ],
  [{ name: 'limiter', consumer_group: null }, 'schema violation (consumer_group: unknown field)'],
];

for (const [body, message] of refusals) {
  test(`${JSON.stringify(body)} is refused: ${message}`, () => {
    assert.equal(refusal(plugins, body), message);
  });
}

test('no protocols at all are accepted', () => {
  assert.deepEqual(created(plugins, { name: 'limiter', protocols: [] })['protocols'], []);
});

test('a deprecated name sets its successor, and both are shown', () => {
  const row = created(plugins, { name: 'limiter', config: { redis_host: 'h' } });
  assert.deepEqual(row['config'], { minute: null, policy: 'local', redis: { host: 'h', port: 6379 } });
  assert.deepEqual(presentRow(plugins, row)['config'], {
    minute: null,
    policy: 'local',
    redis: { host: 'h', port: 6379 },
    redis_host: 'h',
  });
});

test('a response can be sent back', () => {
  const row = created(plugins, { name: 'limiter', config: { redis_host: 'h' } });
  const again = patched(plugins, row, { config: presentRow(plugins, row)['config'] });
  assert.deepEqual(again['config'], row['config']);
});

test('a PATCH takes the name from the stored row and merges the configuration', () => {
  const stored = created(plugins, { name: 'limiter', config: { minute: 5, redis: { host: 'h' } } });
  const change = inferInput(plugins, { config: { redis: { port: '1' } } }, stored);
  assert.deepEqual(patched(plugins, stored, change)['config'], {
    minute: 5,
    policy: 'local',
    redis: { host: 'h', port: 1 },
  });
  assert.deepEqual(
    (patched(plugins, stored, { config: { redis_host: 'new' } })['config'] as { redis: unknown }).redis,
    {
      host: 'new',
      port: 6379,
    },
  );
});

test('the configuration of a form is typed by the plugin', () => {
  const input = inferInput(plugins, { name: 'limiter', config: { minute: '5', redis: { port: '6380' } } });
  assert.equal(JSON.stringify(input), '{"name":"limiter","config":{"minute":5,"redis":{"port":6380}}}');
});

test('the exported defaults are those that a new instance gets', () => {
  const { fields } = exportSchema(schemaOf(plugins, { name: 'limiter' }));
  const config = fields.find((field) => 'config' in field)?.['config'] as unknown as {
    fields: readonly Record<string, { default?: unknown }>[];
  };
  const defaults = Object.assign({}, ...config.fields.map((field) => field));
  assert.equal(defaults.policy.default, 'local');
});

test('protocols must fit a route', () => {
  const routes = [{ protocols: ['tcp'] }, { protocols: ['http'] }];
  assert.equal(protocolProblem(['http'], 'service', routes), null);
  assert.equal(protocolProblem(['http'], 'service', []), null);
  assert.equal(
    protocolProblem(['grpc'], 'service', routes),
    "must match the protocols of at least one route pointing to this Plugin's service",
  );
  assert.equal(
    protocolProblem(['grpc'], 'route', [{ protocols: ['http'] }]),
    "must match the associated route's protocols",
  );
});
