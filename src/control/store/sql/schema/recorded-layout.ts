import { baseMigrationNames, laterMigrationNames } from '../migrations/migration-names.ts';
import type { PlainQuery } from '../plain-query.ts';
import type { EntityTable, EntityTables } from '../rows/entity-table.ts';
import { addedIn, emptyShape, firstOf, type RecordedShape, shapeOf, type TableShape, union } from './table-shape.ts';

/**
 * Two tables record the steps. `schema_migrations` has those that a version must know to use the store: it refuses a store with an
 * unknown one. `additive_migrations` has those whose additive part alone has run.
 */
export interface Applied {
  readonly required: ReadonlySet<string>;
  readonly additive: ReadonlySet<string>;
}

export async function readApplied({ run }: PlainQuery): Promise<Applied> {
  const names = async (table: string): Promise<ReadonlySet<string>> => {
    const rows = await run(`select "name" from "${table}" order by "name"`);
    return new Set(rows.map((row) => String(row['name'])));
  };
  return { required: await names('schema_migrations'), additive: await names('additive_migrations') };
}

/** By entity. */
export type RecordedShapes = ReadonlyMap<string, RecordedShape>;

export async function readShapes({ run }: PlainQuery): Promise<RecordedShapes> {
  const rows = await run('select "entity", "shape" from "entity_tables" order by "entity"');
  return new Map(rows.map((row) => [String(row['entity']), JSON.parse(String(row['shape'])) as RecordedShape]));
}

/** What a migration would add to a table. */
export function missingIn(found: RecordedShape, table: EntityTable): TableShape {
  return addedIn(union(found, found.added ?? emptyShape), shapeOf(table));
}

/** What the table requires of a version, and this one does not know; null: nothing. */
export function unknownIn(found: RecordedShape, table: EntityTable): string | null {
  return firstOf(addedIn(shapeOf(table), found));
}

/** Whether a migration would change nothing, nor refuse the store. */
export async function isCurrentLayout(query: PlainQuery, tables: EntityTables): Promise<boolean> {
  const { required, additive } = await readApplied(query);
  const later = laterMigrationNames.map(({ name }) => name);
  if (![...required].every((name) => baseMigrationNames.includes(name) || later.includes(name))) return false;
  if (!baseMigrationNames.every((name) => required.has(name))) return false;
  const isDone = (name: string, finishes: boolean): boolean => required.has(name) || (!finishes && additive.has(name));
  if (!laterMigrationNames.every(({ name, finishes }) => isDone(name, finishes))) return false;
  const shapes = await readShapes(query);
  return [...tables.values()].every((table) => {
    const found = shapes.get(table.name);
    return found !== undefined && unknownIn(found, table) === null && firstOf(missingIn(found, table)) === null;
  });
}

export function isMissingTable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '42P01') || error.message.includes('no such table');
}
