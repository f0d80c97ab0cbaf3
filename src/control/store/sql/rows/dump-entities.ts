import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row } from '../../../../shared/entities/entity.ts';
import type { Dump } from '../../store.ts';
import { type PlainQuery, quoted } from '../plain-query.ts';
import { readHead } from '../store-head.ts';
import { type EntityTable, type EntityTables, tableOf, toRow } from './entity-table.ts';

/** Rows that are read in one turn of the event loop. */
const dumpedAtOnce = 1000;

/** Every row of these entities. `query`: in a transaction in which all reads see the same instant. */
export async function dumpEntities(
  query: PlainQuery,
  tables: EntityTables,
  entities: readonly string[],
): Promise<Dump> {
  const { store, version, stamp } = await readHead(query);
  const dumped: Record<string, readonly Row[]> = {};
  for (const entity of entities) dumped[entity] = await dumpEntity(query, tableOf(tables, entity));
  return { store, version, stamp, entities: dumped };
}

/** In pages: SQLite reads synchronously, and other work must not wait for a large table. */
async function dumpEntity({ run, placeholder }: PlainQuery, table: EntityTable): Promise<readonly Row[]> {
  const from = `select * from ${quoted(table.name)}`;
  const page = `order by "created_at", "id" limit ${dumpedAtOnce}`;
  const next = `${from} where (created_at, id) > (${placeholder(1)}, ${placeholder(2)}) ${page}`;
  const rows: Row[] = [];
  for (;;) {
    const last = rows.at(-1);
    const found = await (last === undefined ? run(`${from} ${page}`) : run(next, [last.created_at, last.id]));
    for (const columns of found) rows.push(toRow(table, columns));
    if (found.length < dumpedAtOnce) return rows;
    await nextTurn();
  }
}
