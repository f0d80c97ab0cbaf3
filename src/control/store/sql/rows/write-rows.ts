import { sql } from 'kysely';
import type { Row } from '../../../../shared/entities/entity.ts';
import type { RowChange } from '../../audit.ts';
import type { RowWrite } from '../../store.ts';
import { chunks } from '../chunks.ts';
import type { ColumnRow, SqlTransaction } from '../sql-backend.ts';
import { insertRows } from '../statements.ts';
import { deleteRows } from './delete-rows.ts';
import {
  type EntityTable,
  type EntityTables,
  tableOf,
  tagsOf,
  toColumns,
  toComparedColumns,
  toRow,
} from './entity-table.ts';
import { parentsFirst } from './parents-first.ts';

export interface WriteRowsOptions {
  readonly now: number;
  /** Awaited before each statement. */
  readonly breathe: () => Promise<void>;
}

/** A row with the columns of its new state, and those but `body` of its old one. */
interface Prepared {
  readonly id: string;
  readonly before: Row | null;
  readonly after: Row | null;
  readonly stored: ColumnRow | null;
  readonly columns: ColumnRow | null;
}

/**
 * Inserts and replaces rows, parents first, then deletes, children first: no row refers to nothing in between. Unique values that
 * change their owner are released before. Returns the changes, in an order in which they could have been made one by one.
 */
export async function writeRows(
  transaction: SqlTransaction,
  tables: EntityTables,
  writes: readonly RowWrite[],
  { now, breathe }: WriteRowsOptions,
): Promise<readonly RowChange[]> {
  const prepared = new Map<EntityTable, Prepared[]>();
  for (const [i, write] of writes.entries()) {
    if (i % 500 === 0) await breathe();
    const table = tableOf(tables, write.entity);
    const list = prepared.get(table) ?? [];
    if (list.length === 0) prepared.set(table, list);
    list.push(prepare(table, write, now));
  }
  const order = parentsFirst(tables).filter((table) => prepared.has(table));
  const released = new Map<EntityTable, ReadonlySet<string>>();
  for (const table of order) {
    released.set(table, await releaseUniqueValues(transaction, table, prepared.get(table) ?? [], breathe));
  }
  const changes: RowChange[] = [];
  for (const table of order) {
    const rows = (prepared.get(table) ?? []).filter(({ after }) => after !== null);
    await upsert(transaction, table, rows, { released: released.get(table) ?? new Set(), breathe });
    for (const { id, before, columns } of rows) {
      const after = toRow(table, columns ?? {});
      changes.push({ entity: table.name, id, operation: 'upsert', before, after, cause: 'asked', root: '' });
    }
  }
  for (const table of order.toReversed()) {
    const gone = new Map(
      (prepared.get(table) ?? []).flatMap((row) => (row.after === null ? [[row.id, row.before]] : [])),
    );
    for (const ids of chunks([...gone.keys()])) {
      await breathe();
      for (const { entity, id, row } of await deleteRows(transaction, tables, table.name, ids)) {
        const asked = entity === table.name && gone.has(id);
        const before = asked ? (gone.get(id) ?? null) : row;
        const cause = asked ? ('asked' as const) : ('cascade' as const);
        changes.push({ entity, id, operation: 'delete', before, after: null, cause, root: '' });
      }
    }
  }
  return changes;
}

function prepare(table: EntityTable, { before, after }: RowWrite, now: number): Prepared {
  const id = (after ?? before)?.id;
  if (id === undefined) throw new TypeError(`a write of ${table.name} has no row`);
  const stamped = after !== null && table.hasUpdatedAt ? { ...after, updated_at: now } : after;
  return {
    id,
    before,
    after: stamped,
    stored: before === null ? null : toComparedColumns(table, before),
    columns: stamped === null ? null : toColumns(table, stamped),
  };
}

/** Unique values of one table: the columns, and the one of them that is changed to release a value. */
interface UniqueKey {
  readonly columns: readonly string[];
  readonly released: string;
}

function uniqueKeys(table: EntityTable): readonly UniqueKey[] {
  const columnOf = (field: string): string => table.columnOf.get(field) ?? field;
  const foreign = new Set(table.foreignColumns.map(({ column }) => column));
  return [...table.unique.map((field) => [field]), ...table.uniqueTogether].flatMap((fields) => {
    const columns = fields.map(columnOf);
    const released = columns.find((column) => !foreign.has(column));
    return released === undefined ? [] : [{ columns, released }];
  });
}

function uniqueValue(key: UniqueKey, columns: ColumnRow | null): string | null {
  if (columns === null || (key.columns.length === 1 && columns[key.released] === null)) return null;
  return JSON.stringify(key.columns.map((column) => columns[column] ?? ''));
}

/**
 * Gives a temporary value to rows that lose a unique value to another row; both rows are written afterwards. Returns the columns that have
 * temporary values.
 */
async function releaseUniqueValues(
  transaction: SqlTransaction,
  table: EntityTable,
  rows: readonly Prepared[],
  breathe: () => Promise<void>,
): Promise<ReadonlySet<string>> {
  const released = new Set<string>();
  for (const key of uniqueKeys(table)) {
    await breathe();
    const taken = new Set<string>();
    const moved: { readonly id: string; readonly value: string }[] = [];
    for (const { id, stored, columns } of rows) {
      const [old, fresh] = [uniqueValue(key, stored), uniqueValue(key, columns)];
      if (old === fresh) continue;
      if (fresh !== null) taken.add(fresh);
      if (old !== null) moved.push({ id, value: old });
    }
    for (const some of chunks(moved.filter(({ value }) => taken.has(value)))) {
      await breathe();
      released.add(key.released);
      await transaction
        .updateTable(table.name)
        .set({ [key.released]: sql`'~' || id` })
        .where(
          'id',
          'in',
          some.map(({ id }) => id),
        )
        .execute();
    }
  }
  return released;
}

interface UpsertOptions {
  readonly released: ReadonlySet<string>;
  readonly breathe: () => Promise<void>;
}

async function upsert(
  transaction: SqlTransaction,
  table: EntityTable,
  rows: readonly Prepared[],
  { released, breathe }: UpsertOptions,
): Promise<void> {
  const fresh = rows.filter(({ before }) => before === null);
  const replaced = rows.filter(({ before }) => before !== null);
  const inserted = fresh.map(columnsOf);
  await insertRows(transaction, table.name, Object.keys(inserted[0] ?? {}), inserted, { breathe });
  for (const some of chunks(replaced)) {
    await breathe();
    const names = changedColumns(some, released);
    await transaction
      .insertInto(table.name)
      .values(some.map(columnsOf))
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(Object.fromEntries(names.map((name) => [name, sql.ref(`excluded.${name}`)]))),
      )
      .execute();
  }
  const retagged = replaced.filter(({ before, after }) => tagLine(before) !== tagLine(after));
  for (const some of chunks(retagged.map(({ id }) => id))) {
    await breathe();
    await transaction
      .deleteFrom('entity_tags')
      .where('entity', '=', table.name)
      .where('entity_id', 'in', some)
      .execute();
  }
  const lines = [...fresh, ...retagged].flatMap(({ after }) => (after === null ? [] : tagLines(table, after)));
  await insertRows(transaction, 'entity_tags', tagColumns, lines, { breathe });
}

/**
 * The columns in which some of the rows differ from what is stored. A column that is set, even to the same value, costs an update of each
 * index that it is in.
 */
function changedColumns(rows: readonly Prepared[], released: ReadonlySet<string>): readonly string[] {
  const names = Object.keys(columnsOf(rows[0]!));
  const differs = (name: string): boolean => rows.some(({ stored, columns }) => stored?.[name] !== columns?.[name]);
  return names.filter((name) => name === 'body' || released.has(name) || differs(name));
}

function columnsOf({ columns }: Prepared): ColumnRow {
  if (columns === null) throw new TypeError('the row is deleted');
  return columns;
}

/** The lines of `entity_tags` depend on it. */
function tagLine(row: Row | null): string {
  return row === null ? '' : JSON.stringify([row.created_at, tagsOf(row)]);
}

export const tagColumns = ['entity', 'entity_id', 'tag', 'created_at'];

/** The lines of a row in `entity_tags`. */
export function tagLines(table: EntityTable, row: Row): readonly ColumnRow[] {
  return tagsOf(row).map((tag) => ({ entity: table.name, entity_id: row.id, tag, created_at: row.created_at }));
}
