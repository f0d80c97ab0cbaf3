/*
 * What `deck gateway dump` writes: services with their routes and plugins, consumers with their credentials, and so on; keys in
 * alphabetical order, entities by name. Unset fields are left out, except in the configuration of plugins, and except where leaving
 * one out would mean its default.
 */

import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { foreignId, text } from '../../../shared/entities/row-fields.ts';
import { isRecordSchema } from '../../../shared/schema/export/export.ts';
import type { Field } from '../../../shared/schema/field-meta.ts';
import type { ConfigRows } from '../contract.ts';
import type { ExportOptions } from './export-options.ts';
import { shownFields } from './shown-fields.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Fields of references that decK writes as `{ id }`. */
const objects: Readonly<Record<string, readonly string[]>> = {
  upstreams: ['client_certificate'],
  mtls_auth_credentials: ['ca_certificate'],
};

/** Fields that name an entity where the endpoint key does not. */
const names: Readonly<Record<string, string>> = {
  plugins: 'name',
  acls: 'group',
  mtls_auth_credentials: 'subject_name',
};

/** decK writes the ids of these in any case. */
const alwaysWithId: ReadonlySet<string> = new Set(['certificates', 'ca_certificates', 'mtls_auth_credentials']);

/** decK refuses a document that contains them. */
const unknownToDeck: ReadonlySet<string> = new Set(['apis']);

interface Tree {
  readonly options: ExportOptions;
  readonly withIds: boolean;
  /** Rows that are written in another one, by the entity and id of that. */
  readonly nested: ReadonlyMap<string, readonly Child[]>;
  readonly byId: ReadonlyMap<string, Row>;
}

interface Child {
  readonly definition: EntityDefinition;
  readonly row: Row;
  /** The reference to the row around it. */
  readonly field: string;
}

export function deckContent(rows: ConfigRows, options: ExportOptions): Fields {
  const { entities, selectTags = [] } = options;
  const nested = new Map<string, Child[]>();
  const byId = new Map<string, Row>();
  const top = new Map<string, Row[]>();
  for (const definition of entities.definitions) {
    if (!definition.inConfig || unknownToDeck.has(definition.name)) continue;
    for (const row of rows[definition.name] ?? []) {
      byId.set(`${definition.name}:${row.id}`, row);
      const field = ownerField(definition, row);
      if (field === null) push(top, definition.name, row);
      else push(nested, `${definition.foreign[field]?.entity}:${foreignId(row, field)}`, { definition, row, field });
    }
  }
  const withIds = options.withIds === true || (rows['basicauth_credentials'] ?? []).length > 0;
  const tree: Tree = { options, withIds, nested, byId };
  const content: Record<string, unknown> = { _format_version: '3.0' };
  if (selectTags.length > 0) content['_info'] = { defaults: {}, select_tags: selectTags };
  for (const name of [...top.keys()].sort()) {
    const definition = entities.byName(name);
    if (definition !== undefined) {
      content[name] = sorted(definition, tree, top.get(name) ?? [], '').map((row) =>
        entityOf(tree, definition, row, null),
      );
    }
  }
  return content;
}

/** The reference to the entity in which this one is written; null: it is at the top. */
function ownerField({ name, foreign, schema }: EntityDefinition, row: Row): string | null {
  if (name === 'routes') return foreignId(row, 'service') === null ? null : 'service';
  const set = Object.keys(foreign).filter((field) => foreignId(row, field) !== null);
  if (name === 'plugins') return set.length === 1 ? (set[0] ?? null) : null;
  return set.find((field) => foreign[field]?.onDelete === 'cascade' && schema.fields.get(field)?.meta.required) ?? null;
}

function entityOf(tree: Tree, definition: EntityDefinition, row: Row, parentField: string | null): Fields {
  const { options, withIds, nested } = tree;
  const output: Record<string, unknown> = {};
  const isNamed = nameOf(definition, row) !== null;
  for (const { name, value } of shownFields(definition, row, options.now)) {
    const field = definition.schema.fields.get(name);
    if (field === undefined || name === parentField || field.meta.timestamp === true) continue;
    if (name === 'id') {
      if (withIds || !isNamed || alwaysWithId.has(definition.name)) output[name] = value;
    } else if (field.meta.computed === true) {
      // The hash is the only trace of a key that is not stored.
      if (!isNamed && value !== null) output[name] = value;
    } else if (Object.hasOwn(definition.foreign, name)) {
      if (value !== null) output[name] = referenceOf(tree, definition, row, name);
    } else if (name === 'tags') {
      const own = ownTags(value, options.selectTags ?? []);
      if (own !== null) output[name] = own;
    } else if (definition.name === 'plugins' && name === 'config') output[name] = sortedKeys(value);
    else {
      const kept = withoutNulls(field, value);
      if (kept !== undefined) output[name] = kept;
    }
  }
  const children = Map.groupBy(nested.get(`${definition.name}:${row.id}`) ?? [], (child) => child.definition);
  for (const [child, list] of children) {
    const field = list[0]?.field ?? '';
    const rows = list.map((one) => one.row);
    output[child.name] = sorted(child, tree, rows, field).map((one) => entityOf(tree, child, one, field));
  }
  return sortedKeys(output) as Fields;
}

/** Without those that `_info` adds to every entity; null when none is left. An empty list is not the same as none. */
function ownTags(value: unknown, selectTags: readonly string[]): readonly unknown[] | null {
  if (!Array.isArray(value)) return null;
  const own = value.filter((tag) => !selectTags.includes(tag));
  return own.length === 0 && value.length > 0 ? null : own;
}

function referenceOf({ options, byId }: Tree, definition: EntityDefinition, row: Row, field: string): unknown {
  const id = foreignId(row, field);
  if (objects[definition.name]?.includes(field) === true) return { id };
  const entity = definition.foreign[field]?.entity ?? '';
  const target = options.entities.byName(entity);
  const referenced = byId.get(`${entity}:${id}`);
  return (target !== undefined && referenced !== undefined ? nameOf(target, referenced) : null) ?? id;
}

/** What replaces the id of the row; null when nothing does. */
function nameOf({ name, endpointKey }: EntityDefinition, row: Row): string | null {
  const field = names[name] ?? endpointKey;
  return field === null ? null : text(row, field);
}

/** By name, then by what the entity refers to, as decK compares them: byte by byte. */
function sorted(definition: EntityDefinition, tree: Tree, rows: readonly Row[], parentField: string): readonly Row[] {
  const keys = new Map(
    rows.map((row) => {
      const own =
        definition.name === 'certificates' || definition.name === 'ca_certificates' ? text(row, 'cert') : null;
      const references = definition.name === 'plugins' ? ['consumer', 'route', 'service'] : [];
      const tail = references.map((field) =>
        field === parentField || foreignId(row, field) === null
          ? ''
          : String(referenceOf(tree, definition, row, field)),
      );
      return [row, [own ?? nameOf(definition, row) ?? row.id, ...tail].join('')] as const;
    }),
  );
  return rows.toSorted((a, b) => compare(keys.get(a) ?? '', keys.get(b) ?? '') || compare(a.id, b.id));
}

/** Undefined: left out. */
function withoutNulls(field: Field, value: unknown): unknown {
  // An unset optional field with a default would get that.
  if (value === null || value === undefined)
    return field.meta.default != null && !field.meta.required ? null : undefined;
  if (!isRecordSchema(field) || typeof value !== 'object') return sortedKeys(value);
  const output: Record<string, unknown> = {};
  for (const [name, inner] of field.fields) {
    const kept = withoutNulls(inner, (value as Fields)[name]);
    if (kept !== undefined) output[name] = kept;
  }
  return sortedKeys(output);
}

function sortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortedKeys);
  const entries = Object.entries(value).sort(([a], [b]) => compare(a, b));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortedKeys(inner)]));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
