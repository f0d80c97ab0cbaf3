import type { EntityTable } from '../rows/entity-table.ts';

/**
 * What the database enforces for one entity, as recorded next to its table. A comparison of the recorded shape with that of
 * the definition shows what an upgrade must add, and whether a store is from a newer version.
 */
export interface TableShape {
  readonly plainColumns: readonly string[];
  /** It has the column `expires_at`. Absent in shapes recorded before there was one. */
  readonly expires?: boolean;
  /** By column name. */
  readonly foreignColumns: Readonly<
    Record<string, { readonly field: string; readonly references: string; readonly onDelete: string }>
  >;
  /** Sets of columns of unique indexes without, and with, nulls counted as values. */
  readonly unique: readonly string[];
  readonly uniqueTogether: readonly (readonly string[])[];
}

export function shapeOf(table: EntityTable): TableShape {
  const column = (field: string): string => table.columnOf.get(field) ?? field;
  return {
    plainColumns: table.plainColumns,
    expires: table.expires,
    foreignColumns: Object.fromEntries(
      table.foreignColumns.map(({ column, field, references, onDelete }) => [column, { field, references, onDelete }]),
    ),
    unique: table.unique.map(column),
    uniqueTogether: table.uniqueTogether.map((fields) => fields.map(column)),
  };
}

/** What `to` has in addition to `from`. */
export function addedIn(from: TableShape, to: TableShape): TableShape {
  const sets = new Set(from.uniqueTogether.map((columns) => columns.join()));
  const known = Object.entries(from.foreignColumns).map(([column, foreign]) => foreignKey(column, foreign));
  return {
    plainColumns: to.plainColumns.filter((column) => !from.plainColumns.includes(column)),
    expires: to.expires === true && from.expires !== true,
    foreignColumns: Object.fromEntries(
      Object.entries(to.foreignColumns).filter(([column, foreign]) => !known.includes(foreignKey(column, foreign))),
    ),
    unique: to.unique.filter((column) => !from.unique.includes(column)),
    uniqueTogether: to.uniqueTogether.filter((columns) => !sets.has(columns.join())),
  };
}

/** The name of any part of a shape, or null when the shape is empty. */
export function firstOf(shape: TableShape): string | null {
  const names = [
    ...shape.plainColumns,
    ...(shape.expires === true ? ['expires_at'] : []),
    ...Object.keys(shape.foreignColumns),
    ...shape.unique,
  ];
  return names[0] ?? shape.uniqueTogether[0]?.join('+') ?? null;
}

function foreignKey(column: string, foreign: TableShape['foreignColumns'][string]): string {
  return `${column} ${foreign.references} ${foreign.onDelete}`;
}

/** The shape as it is recorded. */
export interface RecordedShape extends TableShape {
  /** What was added to a table that nodes of the version before use: they read the rest only, and need not know it. */
  readonly added?: TableShape;
}

/** Both together. */
export function union(a: TableShape, b: TableShape): TableShape {
  const more = addedIn(a, b);
  return {
    plainColumns: [...a.plainColumns, ...more.plainColumns],
    expires: a.expires === true || b.expires === true,
    foreignColumns: { ...a.foreignColumns, ...more.foreignColumns },
    unique: [...a.unique, ...more.unique],
    uniqueTogether: [...a.uniqueTogether, ...more.uniqueTogether],
  };
}

export const emptyShape: TableShape = { plainColumns: [], foreignColumns: {}, unique: [], uniqueTogether: [] };
