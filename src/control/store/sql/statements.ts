import { CompiledQuery, type DialectAdapter, type RawBuilder, SqliteAdapter } from 'kysely';
import type { PlainQuery } from './plain-query.ts';
import type { ColumnRow, ColumnValue, Database } from './sql-backend.ts';

/** A statement whose text depends on tables and columns only, not on values. */
export interface Statement {
  /** Statements with the same key have the same text. Their number must be bounded by the code and the entities. */
  readonly key: string;
  /** In the order in which the text names them. */
  readonly parameters: readonly ColumnValue[];
  /** Builds it with these parameters. Called once for each key. */
  readonly build: () => { compile(): CompiledQuery };
}

/** Texts by key. Each connection has its dialect. */
const texts = new WeakMap<DialectAdapter, Map<string, string>>();

/**
 * Runs a statement that is part of every write. To build and compile one costs several times what SQLite needs to run it, so its text is
 * kept.
 */
export async function run(database: Database, statement: Statement): Promise<readonly ColumnRow[]> {
  return await runText(database, textOf(database, statement), statement.parameters);
}

/** Statements that are text already. */
export function plain(database: Database): PlainQuery {
  return {
    placeholder: database.getExecutor().adapter instanceof SqliteAdapter ? () => '?' : (n) => `$${n}`,
    run: (text, parameters = []) => runText(database, text, parameters),
  };
}

async function runText(
  database: Database,
  text: string,
  parameters: readonly ColumnValue[],
): Promise<readonly ColumnRow[]> {
  const { rows } = await database.executeQuery<ColumnRow>(CompiledQuery.raw(text, [...parameters]));
  return rows;
}

function textOf(database: Database, { key, parameters, build }: Statement): string {
  const { adapter } = database.getExecutor();
  let known = texts.get(adapter);
  if (known === undefined) {
    known = new Map();
    texts.set(adapter, known);
  }
  const kept = known.get(key);
  if (kept !== undefined) return kept;
  const compiled = build().compile();
  const same =
    compiled.parameters.length === parameters.length &&
    compiled.parameters.every((value, i) => value === parameters[i]);
  if (!same) throw new Error(`the parameters of the statement ${key} are in another order`);
  known.set(key, compiled.sql);
  return compiled.sql;
}

/** A raw statement that names its database only when it is compiled. */
export function compilable(database: Database, builder: RawBuilder<unknown>): { compile(): CompiledQuery } {
  return { compile: () => builder.compile(database) };
}

/** Rows that one statement inserts: with powers of two there are few texts. The databases limit the number of parameters. */
const insertedAtOnce = [256, 128, 64, 32, 16, 8, 4, 2, 1] as const;

export interface InsertOptions {
  /** Awaited before each statement. */
  readonly breathe?: () => Promise<void>;
  /** Columns of the key: a row that exists already is replaced. Default: it is an error. */
  readonly replacing?: readonly string[];
}

/** Inserts rows, each with these columns. */
export async function insertRows(
  database: Database,
  table: string,
  columns: readonly string[],
  rows: readonly ColumnRow[],
  { breathe, replacing }: InsertOptions = {},
): Promise<void> {
  let next = 0;
  for (const size of insertedAtOnce) {
    for (; next + size <= rows.length; next += size) {
      await breathe?.();
      const some = rows.slice(next, next + size);
      await run(database, {
        key: `insert ${table} ${size}`,
        parameters: some.flatMap((row) => columns.map((column) => row[column] ?? null)),
        build: () => insertOf(database, table, columns, some, replacing),
      });
    }
  }
}

function insertOf(
  database: Database,
  table: string,
  columns: readonly string[],
  rows: readonly ColumnRow[],
  replacing: readonly string[] | undefined,
): { compile(): CompiledQuery } {
  const values = rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? null])));
  const insert = database.insertInto(table).values(values);
  if (replacing === undefined) return insert;
  const others = columns.filter((column) => !replacing.includes(column));
  return insert.onConflict((conflict) =>
    conflict
      .columns([...replacing])
      .doUpdateSet((eb) => Object.fromEntries(others.map((column) => [column, eb.ref(`excluded.${column}`)]))),
  );
}
