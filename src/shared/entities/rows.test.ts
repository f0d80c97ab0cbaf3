import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoId, createdAt } from '../schema/common-fields.ts';
import { type ExportedSchema, exportSchema } from '../schema/export/export.ts';
import { string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import { consumers } from './consumers.ts';
import { defineEntity } from './define-entity.ts';
import { created, NOW, patched, patchRefusal, refusal } from './expect-row.fixture.ts';
import { namedReferences } from './references.ts';
import { testRegistry } from './registry.fixture.ts';
import { routes } from './routes.ts';
import { applyPut, inferInput, presentRow, schemaOf, validateInput } from './rows.ts';

const ID = '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10';

test('a given id and creation time are used, a given update time is not', () => {
  const row = created(consumers, { id: ID.toUpperCase(), username: 'bob', created_at: 5, updated_at: 6 });
  assert.deepEqual([row.id, row.created_at, row['updated_at']], [ID, 5000, NOW]);
});

test('a bad id or timestamp is rejected', () => {
  assert.equal(refusal(consumers, { username: 'a', id: 'x' }), 'schema violation (id: expected a valid UUID)');
  assert.equal(
    refusal(consumers, { username: 'a', created_at: -1 }),
    'schema violation (created_at: expected a valid timestamp)',
  );
});

test('a consumer needs a name of some kind', () => {
  const message = "at least one of these fields must be non-empty: 'custom_id', 'username'";
  assert.equal(refusal(consumers, {}), `schema violation (${message})`);
  const stored = created(consumers, { username: 'a' });
  assert.equal(patchRefusal(consumers, stored, { username: null }), `schema violation (when updating, ${message})`);
});

test('PUT restores the defaults, and resets the creation time', () => {
  const result = applyPut(consumers, { username: 'a' }, { now: NOW, id: ID, before: null });
  assert.ok(result.ok);
  assert.deepEqual(result.row, {
    id: ID,
    created_at: NOW,
    updated_at: NOW,
    username: 'a',
    custom_id: null,
    tags: null,
  });
});

test('PATCH keeps the id and the creation time to the millisecond', () => {
  const stored = created(consumers, { username: 'a', custom_id: 'c' });
  const row = patched(consumers, stored, { username: 'b', id: ID, updated_at: 1 });
  assert.deepEqual(row, { ...stored, username: 'b', updated_at: NOW + 5000 });
  assert.equal(patched(consumers, stored, { created_at: 7 }).created_at, 7000);
});

test('a row is shown with whole seconds and every field', () => {
  assert.deepEqual(presentRow(consumers, { id: ID, created_at: 1999, updated_at: 2000, username: 'a' }), {
    id: ID,
    created_at: 1,
    updated_at: 2,
    username: 'a',
    custom_id: null,
    tags: null,
  });
});

test('a body is validated without creating a row', () => {
  assert.ok(validateInput(consumers, { username: 'a' }).ok);
  assert.deepEqual(validateInput(consumers, { username: 1 }), {
    ok: false,
    error: {
      fields: { username: 'expected a string' },
    },
  });
});

test('the texts of a form are typed by the entity', () => {
  const input = inferInput(routes, { paths: '/a', regex_priority: '5', strip_path: 'false', service: { id: ID } });
  assert.equal(
    JSON.stringify(input),
    `{"paths":["/a"],"regex_priority":5,"strip_path":false,"service":{"id":"${ID}"}}`,
  );
});

test('references by a unique field are found, references by id are not', () => {
  const registry = testRegistry();
  assert.deepEqual(namedReferences(routes, { service: { name: 'users' } }, registry), [
    { field: 'service', entity: 'services', key: 'name', value: 'users' },
  ]);
  for (const service of [{ id: ID, name: 'users' }, { host: 'a' }, {}, null, 'users', undefined]) {
    assert.deepEqual(namedReferences(routes, { service }, registry), []);
  }
});

test('entities are found by name and by path', () => {
  const registry = testRegistry();
  assert.equal(registry.byPath('ca_certificates')?.name, 'ca_certificates');
  assert.equal(registry.byName('targets')?.path, null);
  assert.equal(registry.byPath('targets'), undefined);
});

test('parents come before what refers to them', () => {
  const seen = new Set<string>();
  for (const { name, foreign } of testRegistry().definitions) {
    for (const { entity } of Object.values(foreign)) assert.ok(seen.has(entity), `${name} comes before ${entity}`);
    seen.add(name);
  }
});

test('the definition of an entity contains what its fields declare', () => {
  const registry = testRegistry();
  assert.deepEqual(registry.byName('services')?.unique, ['name']);
  assert.deepEqual(registry.byName('consumers')?.unique, ['username', 'custom_id']);
  assert.deepEqual(registry.byName('ca_certificates')?.unique, ['cert_digest']);
  assert.deepEqual(registry.byName('routes')?.foreign, { service: { entity: 'services', onDelete: 'restrict' } });
  assert.deepEqual(registry.byName('targets')?.foreign, { upstream: { entity: 'upstreams', onDelete: 'cascade' } });
  assert.equal(registry.byName('plugins')?.foreign['route']?.onDelete, 'cascade');
});

test('every field of every entity has a description', () => {
  for (const { name, schema } of testRegistry().definitions) {
    for (const [field, { meta }] of schema.fields) {
      assert.ok(field === 'config' || meta.description !== undefined, `${name}.${field}`);
    }
  }
});

const minimal: readonly [entity: string, body: Record<string, unknown>][] = [
  ['services', { host: 'a' }],
  ['routes', { paths: ['/'] }],
  ['consumers', { username: 'a' }],
  ['upstreams', { name: 'a' }],
  ['targets', { target: 'a:1', upstream: { id: ID } }],
  ['plugins', { name: 'limiter' }],
];

/** The values that a client such as decK expects from a schema for what is not given. */
function advertisedDefaults({ fields }: ExportedSchema): Record<string, unknown> {
  const entries = fields
    .flatMap((field) => Object.entries(field))
    .map(([name, attributes]) => {
      const field = attributes as { type: string; required?: boolean; default?: unknown };
      const isFilled = field.type === 'record' && field.required === true;
      return [name, isFilled ? advertisedDefaults(attributes as unknown as ExportedSchema) : (field.default ?? null)];
    });
  return Object.fromEntries(entries);
}

for (const [entity, body] of minimal) {
  test(`${entity}: what is not given has exactly the default that the schema advertises`, () => {
    const definition = testRegistry().byName(entity);
    assert.ok(definition !== undefined);
    const shown = presentRow(definition, created(definition, body));
    const { id, created_at, updated_at } = shown;
    const { config, ...advertised } = advertisedDefaults(exportSchema(schemaOf(definition, body)));
    const expected = { ...advertised, ...body, id, created_at, updated_at };
    const { config: shownConfig, ...rest } = shown;
    assert.deepEqual(rest, expected);
    if (config !== undefined) assert.deepEqual({ redis_host: null, ...config }, shownConfig);
  });
}

test('generated values within a record are kept', () => {
  const inner = record({ key: string({ auto: true }), given: string({ auto: true }), other: string() });
  const schema = record({ id: autoId(), created_at: createdAt(), config: inner });
  const definition = defineEntity({ name: 'things', path: 'things', endpointKey: null, schema });
  const row = created(definition, { config: { given: 'mine' } });
  const made = row['config'] as Record<string, unknown>;
  assert.match(String(made['key']), /^[A-Za-z0-9]{32}$/);
  assert.deepEqual([made['given'], made['other']], ['mine', null]);
  assert.deepEqual(patched(definition, row, { config: { other: 'x' } })['config'], { ...made, other: 'x' });
});
