import type { QueryClient } from '@tanstack/react-query';
import { type Row, rowQuery, schemaQuery } from '../../api/queries.ts';
import type { Collection } from '../../config/collections.ts';
import { formFields, type NamedField, pluginFields } from '../../forms/schema.ts';
import type { Value } from '../../forms/value.ts';
import { withoutSecrets } from '../secrets.ts';
import { type DeckEntity, deckContent, referenceId } from './deck.ts';
import { yamlText } from './yaml.ts';

/** Entities that refer to each other, one above the other. */
const maxDepth = 4;

/** The file of decK with an entity as it will be. Reads what it refers to. */
export async function loadDeckText(
  client: QueryClient,
  all: readonly Collection[],
  collection: Collection,
  value: Value,
): Promise<string> {
  return yamlText(deckContent(await load(client, all, collection, value, maxDepth)));
}

async function load(
  client: QueryClient,
  all: readonly Collection[],
  { info }: Collection,
  value: Value,
  depth: number,
): Promise<DeckEntity> {
  const fields = await fieldsFor(client, info.name, value);
  const references: Record<string, DeckEntity> = {};
  for (const { field, entity } of info.references) {
    const id = referenceId(value[field]);
    const target = all.find((one) => one.info.name === entity);
    const path = target?.info.path;
    if (id === null || target === undefined || path === null || path === undefined || depth === 0) continue;
    const row = await client.fetchQuery(rowQuery(path, id));
    references[field] = await load(client, all, target, row, depth - 1);
  }
  return { info, value: written(fields, value), references };
}

async function fieldsFor(client: QueryClient, entity: string, value: Value): Promise<readonly NamedField[]> {
  const schema = await client.fetchQuery(schemaQuery(entity));
  if (entity !== 'plugins') return formFields(schema);
  return pluginFields(schema, await client.fetchQuery(schemaQuery(`plugins/${String(value['name'])}`)));
}

/** What a file says about an entity: what is unset is left out, unless it would then get a default. */
function written(fields: readonly NamedField[], row: Value | Row): Value {
  const { id, name } = row as Value;
  const known = fields.flatMap(({ name: field, schema }) => {
    const value = row[field] ?? null;
    const isDefault = id === undefined || schema.default === undefined || schema.default === null;
    if (value === null && isDefault) return [];
    return [[field, value] as const];
  });
  const named = fields.some((field) => field.name === 'name') || name === undefined ? [] : [['name', name] as const];
  const identified = id === undefined ? [] : [['id', id] as const];
  return withoutSecrets(fields, Object.fromEntries([...identified, ...named, ...known]));
}
