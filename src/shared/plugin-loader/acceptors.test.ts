import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, randomOf } from '../../../test/support/random.ts';
import type { EntityDefinition } from '../entities/entity.ts';
import { createEntityRegistry } from '../entities/registry.ts';
import { acceptQuickly, refused } from '../schema/accept.ts';
import { isRecordSchema } from '../schema/export/export.ts';
import type { Field } from '../schema/field-meta.ts';
import type { RecordSchema } from '../schema/fields.ts';
import { createPluginCatalog } from './catalog.ts';
import { loadPlugins } from './load-plugins.ts';

/*
 * The short way to a valid value (shared/schema/accept.ts) must lead where zod leads: random values, most of them nearly valid, for all
 * entities and the plugins that come with the gateway.
 */

const odd: readonly unknown[] = [
  undefined,
  null,
  '',
  'a\0',
  '\ud800',
  -1,
  1.5,
  Number.NaN,
  2 ** 60,
  true,
  [],
  {},
  ['x', 'x'],
  { x: 1 },
];
const texts = [
  'a',
  '/a',
  'A',
  '*.example.com',
  '10.0.0.1',
  'https://a.test/b',
  '{vault://env/a}',
  '90s',
  '$(headers.x)',
  'GET',
];
const ids = ['0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10', '0B0C7FFB-F03B-4BE5-9F6A-8C1A4D3F4C10'];

function anyValue(field: Field, random: Random): unknown {
  const { type, one_of: choices, between, elements, values, uuid } = field.meta;
  if (random(80) === 0) return odd[random(odd.length)];
  if (choices !== undefined && random(10) > 0) return choices[random(choices.length)];
  if (isRecordSchema(field)) return recordOf(field, random);
  switch (type) {
    case 'string':
      return uuid === true ? ids[random(2)] : texts[random(texts.length)];
    case 'integer':
    case 'number':
      return between === undefined ? random(1000) : between[0] + random(between[1] - between[0] + 2);
    case 'boolean':
      return random(2) === 0;
    case 'array':
    case 'set':
      return elements === undefined ? [] : Array.from({ length: random(3) }, () => anyValue(elements, random));
    case 'map':
      return values === undefined ? {} : Object.fromEntries([[`k${random(2)}`, anyValue(values, random)]]);
    case 'foreign':
      return { id: ids[random(2)], ...(random(4) === 0 && { name: 'x' }) };
    case 'record':
      return {};
  }
}

function recordOf(schema: RecordSchema, random: Random): unknown {
  const value: Record<string, unknown> = {};
  const rarity = 1 + random(12);
  for (const [name, field] of schema.fields) {
    if (field.meta.required && field.meta.default === undefined ? random(12) > 0 : random(rarity) === 0) {
      value[name] = anyValue(field, random);
    }
  }
  for (const [name, { field }] of schema.shorthands) if (random(8) === 0) value[name] = anyValue(field, random);
  if (random(25) === 0) value['unknown'] = 1;
  return value;
}

/** All schemas, those of plugins included. */
async function schemas(): Promise<ReadonlyMap<string, RecordSchema>> {
  const plugins = await loadPlugins(['bundled'], process.cwd());
  const brought = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  const { definitions } = createEntityRegistry(await createPluginCatalog(plugins), brought.flat());
  const found = new Map(definitions.map(({ name, schema }) => [name, schema]));
  const { schemaFor } = definitions.find(({ name }) => name === 'plugins') as EntityDefinition;
  for (const name of plugins.keys()) {
    const schema = schemaFor?.({ name }, 'create');
    if (schema !== undefined) found.set(`plugins ${name}`, schema);
  }
  const protocols = definitions.find(({ name }) => name === 'routes')?.schemaFor;
  for (const protocol of ['http', 'tls', 'grpc']) {
    const schema = protocols?.({ protocols: [protocol] }, 'create');
    if (schema !== undefined) found.set(`routes ${protocol}`, schema);
  }
  return found;
}

/** The value, or undefined when zod refuses the input. */
function zodValue(schema: RecordSchema, input: unknown): unknown {
  const result = schema.value.safeParse(input);
  return result.success ? result.data : undefined;
}

test('what is accepted quickly is what zod makes of it, for every entity and plugin', async () => {
  const random = randomOf(20_261_123);
  let accepted = 0;
  let valid = 0;
  for (const [name, schema] of await schemas()) {
    for (let round = 0; round < 80; round++) {
      const input = recordOf(schema, random);
      const before = structuredClone(input);
      const value = acceptQuickly(schema.value, input);
      const expected = zodValue(schema, input);
      assert.deepEqual(input, before, `${name} has changed its input`);
      if (expected !== undefined) valid++;
      if (value === refused) continue;
      accepted++;
      assert.deepEqual(value, expected, `${name} ${JSON.stringify(input)}`);
      assert.equal(JSON.stringify(value), JSON.stringify(expected), `order of the fields of ${name}`);
    }
  }
  assert.ok(valid > 1000, `${valid} valid inputs`);
  assert.ok(accepted > valid * 0.95, `${accepted} of ${valid} valid inputs were accepted quickly`);
});
