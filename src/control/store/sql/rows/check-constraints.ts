import { type RawBuilder, sql } from 'kysely';
import type { Row } from '../../../../shared/entities/entity.ts';
import { StoreError, type StoreErrorDetail } from '../../store.ts';
import type { ColumnRow, ColumnValue, SqlTransaction } from '../sql-backend.ts';
import { compilable, run } from '../statements.ts';
import type { EntityTable } from './entity-table.ts';

interface Check {
  /** Identifies the text of the query within the table. */
  readonly name: string;
  /** Yields a row when the answer is yes. */
  readonly query: () => RawBuilder<unknown>;
  /** Those of the query. */
  readonly parameters: readonly ColumnValue[];
  readonly violatedWhen: 'found' | 'missing';
  readonly violation: () => StoreErrorDetail;
}

/**
 * Finds the violation that a write would cause and throws it with its exact fields. Writers are serialised, so the answer
 * still holds at the write; the real constraints behind it are for writers that are not ours. Because of the check both
 * databases report the same (SQLite does not name a violated foreign key), in a fixed order, in one round trip.
 *
 * @param before The stored columns on update: unchanged values are not checked again. Null on insert.
 */
export async function checkConstraints(
  transaction: SqlTransaction,
  table: EntityTable,
  row: Row,
  columns: ColumnRow,
  before: ColumnRow | null,
): Promise<void> {
  const changed = (column: string): boolean => before === null || before[column] !== columns[column];
  const checks = [
    ...(before === null ? [primaryKeyCheck(table, row.id)] : []),
    ...uniqueChecks(table, row, columns, changed),
    ...foreignKeyChecks(table, row.id, columns, changed),
  ];
  if (checks.length === 0) return;
  const rows = await run(transaction, {
    key: `check ${table.name} ${checks.map(({ name }) => name).join()}`,
    parameters: checks.flatMap(({ parameters }) => parameters),
    build: () => {
      const answers = checks.map((check, i) => sql`(${check.query()}) as ${sql.ref(`c${i}`)}`);
      return compilable(transaction, sql`select ${sql.join(answers)}`);
    },
  });
  checks.forEach((check, i) => {
    const found = rows[0]?.[`c${i}`] !== null;
    if (found === (check.violatedWhen === 'found')) throw new StoreError(check.violation());
  });
}

function primaryKeyCheck(table: EntityTable, id: string): Check {
  return {
    name: 'id',
    query: () => sql`select 1 from ${sql.table(table.name)} where id = ${id}`,
    parameters: [id],
    violatedWhen: 'found',
    violation: () => ({ kind: 'primary-key', entity: table.name, id }),
  };
}

function uniqueChecks(
  table: EntityTable,
  row: Row,
  columns: ColumnRow,
  changed: (column: string) => boolean,
): readonly Check[] {
  const single = table.unique
    .map((field) => ({ fields: [field], column: table.columnOf.get(field) ?? field }))
    .filter(({ column }) => columns[column] !== null && changed(column))
    .map(({ fields, column }) => ({
      fields,
      values: [columns[column] ?? null],
      matches: () => [sql`${sql.ref(column)} = ${columns[column]}`],
    }));
  const together = table.uniqueTogether
    .map((fields) => ({ fields, names: fields.map((field) => table.columnOf.get(field) ?? field) }))
    .filter(({ names }) => names.some(changed))
    .map(({ fields, names }) => ({
      fields,
      values: names.map((column) => columns[column] ?? ''),
      matches: () => names.map((column) => sql`${nullAsEmpty(column)} = ${columns[column] ?? ''}`),
    }));
  return [...single, ...together].map(({ fields, values, matches }) => ({
    name: `unique ${fields.join('+')}`,
    query: () => sql`select 1 from ${sql.table(table.name)}
      where ${sql.join(matches(), sql` and `)} and id <> ${row.id} limit 1`,
    parameters: [...values, row.id],
    violatedWhen: 'found',
    violation: () => ({
      kind: 'unique',
      entity: table.name,
      fields: Object.fromEntries(fields.map((field) => [field, row[field] ?? null])),
    }),
  }));
}

function foreignKeyChecks(
  table: EntityTable,
  ownId: string,
  columns: ColumnRow,
  changed: (column: string) => boolean,
): readonly Check[] {
  return table.foreignColumns.flatMap(({ field, column, references }) => {
    const id = columns[column];
    if (typeof id !== 'string' || !changed(column)) return [];
    if (references === table.name && id === ownId) return [];
    return {
      name: `foreign ${field}`,
      query: () => sql`select 1 from ${sql.table(references)} where id = ${id}`,
      parameters: [id],
      violatedWhen: 'missing',
      violation: () => ({ kind: 'foreign-key', entity: table.name, field, references, id }),
    };
  });
}

/** The expression of the indexes over fields that are unique together: null counts as a value there. */
export function nullAsEmpty(column: string): RawBuilder<unknown> {
  return sql`coalesce(${sql.ref(column)}, '')`;
}
