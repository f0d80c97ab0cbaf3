import type { EntityDefinition, Row } from '../../../../shared/entities/entity.ts';
import type { ColumnRow, ColumnValue } from '../sql-backend.ts';

/** A foreign field and the real column that holds its id. */
export interface ForeignColumn {
  readonly field: string;
  readonly column: string;
  readonly references: string;
  readonly onDelete: 'restrict' | 'cascade';
}

/** The table of one entity: real columns for what the database must compare, one JSON column for the rest. */
export interface EntityTable {
  readonly name: string;
  readonly hasUpdatedAt: boolean;
  /** Its changes are versions of the config. */
  readonly inConfig: boolean;
  /** It has the column `expires_at`. */
  readonly expires: boolean;
  /** Plain fields with a column of the same name. */
  readonly plainColumns: readonly string[];
  readonly foreignColumns: readonly ForeignColumn[];
  readonly unique: readonly string[];
  readonly uniqueTogether: readonly (readonly string[])[];
  /** Column by field, for every field that can be looked up, `id` included. */
  readonly columnOf: ReadonlyMap<string, string>;
}

const fixedColumns = ['id', 'created_at', 'updated_at', 'expires_at', 'body'];

export function toEntityTable(definition: EntityDefinition): EntityTable {
  const foreignColumns = Object.entries(definition.foreign).map(([field, foreign]) => ({
    field,
    column: `${field}_id`,
    references: foreign.entity,
    onDelete: foreign.onDelete,
  }));
  const foreignFields = new Set(Object.keys(definition.foreign));
  const indexed = [definition.endpointKey ?? [], definition.unique, definition.uniqueTogether, definition.lookups].flat(
    2,
  );
  const plainColumns = [...new Set(indexed)].filter((field) => !foreignFields.has(field));
  const columns = [...fixedColumns, ...plainColumns, ...foreignColumns.map((foreign) => foreign.column)];
  if (new Set(columns).size !== columns.length) {
    throw new Error(`entity ${definition.name}: two of its fields need the same column (${columns.join(', ')})`);
  }
  return {
    name: definition.name,
    hasUpdatedAt: definition.hasUpdatedAt,
    inConfig: definition.inConfig,
    expires: definition.expires,
    plainColumns,
    foreignColumns,
    unique: definition.unique,
    uniqueTogether: definition.uniqueTogether,
    columnOf: new Map([
      ['id', 'id'],
      ...plainColumns.map((field): [string, string] => [field, field]),
      ...foreignColumns.map((foreign): [string, string] => [foreign.field, foreign.column]),
    ]),
  };
}

/** Keeps definition order, so that checks and cascades run in it. */
export type EntityTables = ReadonlyMap<string, EntityTable>;

export function toEntityTables(definitions: readonly EntityDefinition[]): EntityTables {
  return new Map(definitions.map((definition) => [definition.name, toEntityTable(definition)]));
}

export function tableOf(tables: EntityTables, entity: string): EntityTable {
  const table = tables.get(entity);
  if (table === undefined) throw new TypeError(`the store has no entity '${entity}'`);
  return table;
}

export function columnOf(table: EntityTable, field: string): string {
  const column = table.columnOf.get(field);
  if (column === undefined) throw new TypeError(`${table.name}.${field} has no column to look up by`);
  return column;
}

export function toColumns(table: EntityTable, row: Row): ColumnRow {
  const columns = toComparedColumns(table, row);
  // JSON has no undefined fields. To delete them would make the copy a hash table.
  const body: Fields = { ...row, id: undefined, created_at: undefined, updated_at: undefined, expires_at: undefined };
  for (const field of table.plainColumns) body[field] = undefined;
  for (const { field } of table.foreignColumns) body[field] = undefined;
  columns['body'] = JSON.stringify(body);
  return columns;
}

type Fields = Record<string, unknown>;

/** All columns but `body`. */
export function toComparedColumns(table: EntityTable, row: Row): ColumnRow {
  const { id, created_at, updated_at, expires_at } = row;
  // A larger number would be stored, but SQLite could not return it as a number: the row would break every list.
  if (!Number.isSafeInteger(created_at)) throw new TypeError(`${table.name}.created_at must be an integer`);
  assertStorable(table, 'id', id);
  const columns: ColumnRow = {
    id,
    created_at,
    updated_at: table.hasUpdatedAt && typeof updated_at === 'number' ? updated_at : null,
  };
  if (table.expires) columns['expires_at'] = typeof expires_at === 'number' ? expires_at : null;
  for (const field of table.plainColumns) columns[field] = plainValue(table, field, row[field]);
  for (const { field, column } of table.foreignColumns) columns[column] = foreignId(table, field, row[field]);
  return columns;
}

export function toRow(table: EntityTable, columns: ColumnRow): Row {
  const row: Record<string, unknown> = { id: columns['id'], created_at: columns['created_at'] };
  if (table.hasUpdatedAt) row['updated_at'] = columns['updated_at'];
  if (table.expires) row['expires_at'] = columns['expires_at'];
  for (const field of table.plainColumns) row[field] = columns[field];
  for (const { field, column } of table.foreignColumns) {
    const id = columns[column];
    row[field] = id === null ? null : { id };
  }
  return { ...row, ...JSON.parse(String(columns['body'])) };
}

function plainValue(table: EntityTable, field: string, value: unknown): ColumnValue {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new TypeError(`${table.name}.${field} must be a string or null`);
  assertStorable(table, field, value);
  return value;
}

/** PostgreSQL does not accept NUL in text, so neither database does. */
function assertStorable(table: EntityTable, field: string, value: string): void {
  if (value.includes('\0')) throw new TypeError(`${table.name}.${field} must not hold NUL`);
}

function foreignId(table: EntityTable, field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'object' && 'id' in value && typeof value.id === 'string') {
    assertStorable(table, field, value.id);
    return value.id;
  }
  throw new TypeError(`${table.name}.${field} must be { id } or null`);
}

export function tagsOf(row: Row): readonly string[] {
  const tags = row['tags'];
  if (!Array.isArray(tags)) return [];
  return [...new Set(tags.filter((tag): tag is string => typeof tag === 'string' && !tag.includes('\0')))];
}
