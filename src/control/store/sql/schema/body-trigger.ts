import { type RawBuilder, sql } from 'kysely';
import type { SqlTransaction } from '../sql-backend.ts';
import type { TableShape } from './table-shape.ts';

/**
 * While nodes of the version before use a table (PostgreSQL), a field that has become a column is in `body` too: they know it only
 * there. A trigger keeps both the same: a node that writes the field into `body` sets the column, and one that sets only the column, as
 * this version does, gets it copied into `body`.
 */
export async function createBodyTrigger(transaction: SqlTransaction, entity: string, added: TableShape): Promise<void> {
  const fields: Followed[] = [
    ...added.plainColumns.map((column) => ({
      field: column,
      column,
      // In parentheses: an IF ends at the first THEN otherwise.
      read: `(case when jsonb_typeof(fields->'${column}') = 'string' then fields->>'${column}' end)`,
      copy: `to_jsonb(new."${column}")`,
    })),
    ...Object.entries(added.foreignColumns).map(([column, { field }]) => ({
      field,
      column,
      read: `fields->'${field}'->>'id'`,
      copy: `case when new."${column}" is null then 'null'::jsonb else jsonb_build_object('id', new."${column}") end`,
    })),
  ];
  if (fields.length === 0) return;
  for (const { field, column } of fields) assertName(field, column);
  const body = sql.raw(`
    declare
      fields jsonb := new.body::jsonb;
      -- Such as a value that is released before another row gets it.
      column_only boolean := tg_op = 'UPDATE';
    begin
      if column_only then column_only := new.body::text = old.body::text; end if;
      ${fields.map(followOne).join('\n')}
      new.body := fields::json;
      return new;
    end`);
  await sql`create or replace function ${functionOf(entity)}() returns trigger language plpgsql as $follow$${body}$follow$`.execute(
    transaction,
  );
  await sql`drop trigger if exists follow_body on ${sql.table(entity)}`.execute(transaction);
  await sql`create trigger follow_body before insert or update on ${sql.table(entity)}
    for each row execute function ${functionOf(entity)}()`.execute(transaction);
}

export async function dropBodyTrigger(transaction: SqlTransaction, entity: string): Promise<void> {
  await sql`drop trigger if exists follow_body on ${sql.table(entity)}`.execute(transaction);
  await sql`drop function if exists ${functionOf(entity)}()`.execute(transaction);
}

interface Followed {
  readonly field: string;
  readonly column: string;
  /** The column's value by the field, and the field's value by the column. */
  readonly read: string;
  readonly copy: string;
}

function followOne({ field, column, read, copy }: Followed): string {
  return `if fields ? '${field}' and not column_only then new."${column}" := ${read};
    elsif not fields ? '${field}' or new."${column}" is distinct from ${read} then
      fields := fields || jsonb_build_object('${field}', ${copy});
    end if;`;
}

/** They become part of a function's text. */
function assertName(...names: readonly string[]): void {
  for (const name of names) if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`not a name of a field: ${name}`);
}

function functionOf(entity: string): RawBuilder<unknown> {
  return sql.id(`follow_body_${entity}`);
}
