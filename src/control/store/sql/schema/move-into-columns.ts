import { sql } from 'kysely';
import type { ColumnRow, ColumnValue, SqlTransaction } from '../sql-backend.ts';
import type { TableShape } from './table-shape.ts';

const batchSize = 500;

/** Moves values from `body` into columns that were just added to a table. */
export async function moveIntoColumns(transaction: SqlTransaction, entity: string, added: TableShape): Promise<void> {
  let after = '';
  for (;;) {
    const rows = await transaction
      .selectFrom(entity)
      .select(['id', 'body'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(batchSize)
      .execute();
    for (const row of rows) {
      const id = String(row['id']);
      const columns = movedColumns(added, JSON.parse(String(row['body'])));
      if (columns !== null) await transaction.updateTable(entity).set(columns).where('id', '=', id).execute();
      after = id;
    }
    if (rows.length < batchSize) return;
  }
}

/** Lets the trigger of the table set the columns of its rows. */
export async function copyIntoColumns(transaction: SqlTransaction, entity: string): Promise<void> {
  // Without a cast to text and back, the trigger would take it for a change of columns only.
  await sql`update ${sql.table(entity)} set body = (body::text || ' ')::json`.execute(transaction);
}

function movedColumns(added: TableShape, body: Record<string, unknown>): ColumnRow | null {
  const columns: ColumnRow = {};
  for (const field of added.plainColumns) {
    const value = take(body, field);
    if (value !== undefined) columns[field] = typeof value === 'string' ? value : null;
  }
  for (const [column, { field }] of Object.entries(added.foreignColumns)) {
    const value = take(body, field);
    if (value !== undefined) columns[column] = idOf(value);
  }
  if (Object.keys(columns).length === 0) return null;
  return { ...columns, body: JSON.stringify(body) };
}

function take(body: Record<string, unknown>, field: string): unknown {
  const value = body[field];
  delete body[field];
  return value;
}

function idOf(value: unknown): ColumnValue {
  return typeof value === 'object' && value !== null && 'id' in value ? String(value.id) : null;
}
