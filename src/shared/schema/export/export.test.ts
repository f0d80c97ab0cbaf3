import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, map } from '../collections.ts';
import { integer, number, string } from '../fields.ts';
import { foreign, record } from '../record.ts';
import { exportField, exportSchema } from './export.ts';
import { exportJsonSchema } from './export-json-schema.ts';
import { exportMarkdownTable } from './export-markdown.ts';

const schema = record(
  {
    id: string({ uuid: true, auto: true }),
    status: integer({ default: 503, between: [100, 599], description: 'Status of the answer.' }),
    mode: string({ required: true, one_of: ['a', 'b'], default: 'a' }),
    timeout: number({ default: 1, unit: 's', description: 'How long | it may take.' }),
    method: string({ match: /^[A-Z]+$/ }),
    headers: map(string(), array(string(), { len_min: 1 })),
    redis: record({ host: string({ required: true }) }),
    optional: record({ a: string() }, { required: false }),
    service: foreign('services', { on_delete: 'cascade' }),
    hidden: string({ virtual: true }),
  },
  {
    shorthands: { redis_host: { field: string(), replacedWith: ['redis', 'host'] } },
    checks: [
      { at_least_one_of: ['mode', 'method'] },
      { custom_entity_check: { field_sources: ['mode'], fn: () => null } },
    ],
  },
);

test('a schema is exported in the shape of /schemas', () => {
  assert.deepEqual(exportSchema(schema), {
    entity_checks: [{ at_least_one_of: ['mode', 'method'] }, { custom_entity_check: { field_sources: ['mode'] } }],
    fields: [
      { id: { type: 'string', auto: true, uuid: true } },
      { status: { type: 'integer', description: 'Status of the answer.', default: 503, between: [100, 599] } },
      { mode: { type: 'string', required: true, default: 'a', one_of: ['a', 'b'] } },
      { timeout: { type: 'number', description: 'How long | it may take.', default: 1 } },
      { method: { type: 'string', match: '^[A-Z]+$' } },
      {
        headers: {
          type: 'map',
          keys: { type: 'string' },
          values: { type: 'array', len_min: 1, elements: { type: 'string' } },
        },
      },
      { redis: { type: 'record', required: true, fields: [{ host: { type: 'string', required: true } }] } },
      { optional: { type: 'record', fields: [{ a: { type: 'string' } }] } },
      { service: { type: 'foreign', reference: 'services', on_delete: 'cascade' } },
    ],
    shorthand_fields: [
      { redis_host: { type: 'string', deprecation: { replaced_with: [{ path: ['redis', 'host'] }] } } },
    ],
  });
});

test('infinite numbers are exported as words', () => {
  const exported = exportSchema(
    record({ n: number({ between: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] }) }),
  );
  assert.deepEqual(exported.fields, [{ n: { type: 'number', between: ['-inf', 'inf'] } }]);
});

test('a schema is exported as JSON Schema', () => {
  const exported = exportJsonSchema(schema) as { properties: Record<string, unknown>; additionalProperties: unknown };
  assert.equal(exported.additionalProperties, false);
  assert.deepEqual(exported.properties['status'], {
    type: ['integer', 'null'],
    minimum: 100,
    maximum: 599,
    description: 'Status of the answer.',
    default: 503,
  });
  assert.deepEqual(exported.properties['mode'], { type: 'string', enum: ['a', 'b'], default: 'a' });
  assert.deepEqual(exported.properties['redis'], {
    type: 'object',
    properties: { host: { type: 'string', minLength: 1 } },
    required: ['host'],
    additionalProperties: false,
  });
});

test('the documentation table has a line for each field, nested ones by their path', () => {
  const lines = exportMarkdownTable(schema).split('\n');
  assert.ok(lines.includes('| `status` | integer | `503` | Status of the answer. From 100 to 599. |'));
  assert.ok(lines.includes('| `redis.host` | string | **required** |  |'));
  assert.ok(lines.includes('| `timeout` | number | `1` | How long \\| it may take. Unit: s. |'));
  assert.ok(lines.includes('| `redis_host` | string |  | Deprecated: use `redis.host`. |'));
});

test('a computed field is omitted from the schemas of Kong, and read-only in OpenAPI', () => {
  const schema = record({ key: string(), key_hash: string({ computed: true }) });
  assert.deepEqual(exportSchema(schema).fields.flatMap(Object.keys), ['key']);
  const { properties } = exportJsonSchema(schema) as { readonly properties: Readonly<Record<string, object>> };
  assert.deepEqual(properties['key_hash'], { type: ['string', 'null'], minLength: 1, readOnly: true });
});

test('a default list of records has their unset fields, as an entity shows them', () => {
  const metric = record({ name: string({ required: true }), rate: string(), unit: string({ default: 'ms' }) });
  const field = exportField(array(metric, { default: [{ name: 'latency' }] }));
  assert.deepEqual(field['default'], [{ name: 'latency', rate: null, unit: 'ms' }]);
});
