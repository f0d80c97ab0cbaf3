import { type RawBuilder, sql } from 'kysely';
import type { UsageKey, UsageName, UsageQuery, UsageResolution, UsageRow, UsageStore } from '../usage-store.ts';
import { chunks } from './chunks.ts';
import type { ColumnRow, SqlBackend } from './sql-backend.ts';
import { isStorableText } from './storable-text.ts';

/** Values of the column `resolution`: seconds. */
const seconds: Readonly<Record<UsageResolution, number>> = { minute: 60, hour: 3600, day: 86_400 };
/** Columns of the key after the resolution, in order. */
const keyColumns = ['start', 'node', 'route', 'service', 'consumer', 'version', 'status'] as const;
const rowColumns = ['resolution', ...keyColumns, 'data'] as const;
const nameColumns = ['kind', 'id', 'name', 'seen'] as const;
const numeric: ReadonlySet<string> = new Set(['resolution', 'start', 'status', 'seen']);

/** Maximum rows that one statement removes, so that it stays short. */
const removedAtOnce = 500;

export function createUsageStore(backend: SqlBackend): UsageStore {
  const { counters, read, kind } = backend;
  const skipLocked = sql.raw(kind === 'postgres' ? 'for update skip locked' : '');

  /** Rows to insert, given as one parameter: the statement is the same for any number of them. */
  function given(columns: readonly string[], values: readonly object[]): RawBuilder<unknown> {
    const json = JSON.stringify(values);
    if (kind === 'postgres') {
      const typed = columns.map((column) => `${column} ${numeric.has(column) ? 'bigint' : 'text'}`);
      return sql`select * from json_to_recordset(cast(${json} as json)) as given(${sql.raw(typed.join())})`;
    }
    const members = columns.map((column) => `value ->> '${column}'`);
    // Without the condition SQLite would parse the following text as part of a join.
    return sql`select ${sql.raw(members.join())} from json_each(${json}) where true`;
  }

  async function remove(table: string, key: string, condition: RawBuilder<unknown>): Promise<number> {
    const columns = sql.raw(key);
    const name = sql.raw(table);
    return await counters.transaction().execute(async (transaction) => {
      const { rows } = await sql<ColumnRow>`
        delete from ${name} where (${columns}) in
          (select ${columns} from ${name} where ${condition} limit ${removedAtOnce} ${skipLocked})
        returning 1 as removed`.execute(transaction);
      return rows.length;
    });
  }

  return {
    async putUsage(rows, names) {
      const lines = rows.map((row) => ({ ...row, resolution: seconds[row.resolution] }));
      await counters.transaction().execute(async (transaction) => {
        if (lines.length > 0) {
          const columns = sql.raw(rowColumns.join());
          const key = sql.raw(rowColumns.slice(0, -1).join());
          await sql`insert into usage_rows (${columns}) ${given(rowColumns, lines)}
            on conflict (${key}) do update set data = excluded.data`.execute(transaction);
        }
        if (names.length === 0) return;
        // In one order, so that two nodes cannot deadlock.
        const sorted = [...oneOfEach(names)].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
        await sql`insert into usage_names (${sql.raw(nameColumns.join())}) ${given(nameColumns, sorted)}
          on conflict (kind, id) do update set name = excluded.name, seen = excluded.seen
          where usage_names.seen <= excluded.seen`.execute(transaction);
      });
    },

    async readUsage(query) {
      const { rows } = await sql<ColumnRow>`
        select ${sql.raw(rowColumns.slice(1).join())} from usage_rows where ${conditionOf(query)}
        order by ${sql.raw(keyColumns.map((column) => `${column} ${query.order ?? 'asc'}`).join())}
        limit ${query.limit}`.execute(read);
      return rows.map((row) => usageRow(query.resolution, row));
    },

    deleteUsage: async (resolution, before) => {
      const old = sql`resolution = ${integer(seconds[resolution])} and start < ${integer(before)}`;
      const { rows } = await sql`select 1 from usage_rows where ${old} limit 1`.execute(read);
      return rows.length === 0 ? 0 : await remove('usage_rows', rowColumns.slice(0, -1).join(), old);
    },

    async readUsageNames(kind, ids) {
      const found: UsageName[] = [];
      for (const some of chunks(ids.filter(isStorableText))) {
        const rows = await read
          .selectFrom('usage_names')
          .selectAll()
          .where('kind', '=', kind)
          .where('id', 'in', some)
          .execute();
        found.push(...rows.map(usageName));
      }
      return found;
    },

    async findUsageNames(kind, name) {
      if (!isStorableText(name)) return [];
      const rows = await read
        .selectFrom('usage_names')
        .selectAll()
        .where('kind', '=', kind)
        .where('name', '=', name)
        .orderBy('seen', 'desc')
        .limit(100)
        .execute();
      return rows.map(usageName);
    },

    deleteUsageNames: (before) => remove('usage_names', 'kind, id', sql`seen < ${integer(before)}`),
  };
}

function conditionOf({ resolution, from, to, where = {}, statuses, order, after }: UsageQuery): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [
    sql`resolution = ${integer(seconds[resolution])}`,
    sql`start >= ${integer(from)}`,
    sql`start < ${integer(to)}`,
  ];
  for (const [column, values] of Object.entries(where)) {
    const known = values.filter(isStorableText);
    conditions.push(known.length === 0 ? sql`1 = 0` : sql`${sql.ref(column)} in (${sql.join(known)})`);
  }
  if (statuses !== undefined) {
    const ranges = statuses.map(([least, most]) => sql`status between ${integer(least)} and ${integer(most)}`);
    conditions.push(ranges.length === 0 ? sql`1 = 0` : sql`(${sql.join(ranges, sql` or `)})`);
  }
  if (after !== undefined) {
    const beyond = sql.raw(order === 'desc' ? '<' : '>');
    conditions.push(
      sql`(${sql.raw(keyColumns.join())}) ${beyond} (${sql.join(keyColumns.map((name) => keyValue(after, name)))})`,
    );
  }
  return sql.join(conditions, sql` and `);
}

function keyValue(key: UsageKey, column: (typeof keyColumns)[number]): RawBuilder<unknown> {
  const value = key[column];
  return typeof value === 'number' ? integer(value) : sql`${value}`;
}

/** PostgreSQL treats a number parameter as text where nothing else determines its type. */
function integer(value: number): RawBuilder<unknown> {
  return sql`cast(${value} as bigint)`;
}

function usageRow(resolution: UsageResolution, row: ColumnRow): UsageRow {
  return {
    resolution,
    start: Number(row['start']),
    node: String(row['node']),
    route: String(row['route']),
    service: String(row['service']),
    consumer: String(row['consumer']),
    version: String(row['version']),
    status: Number(row['status']),
    data: String(row['data']),
  };
}

function usageName(row: ColumnRow): UsageName {
  return { kind: String(row['kind']), id: String(row['id']), name: String(row['name']), seen: Number(row['seen']) };
}

/** The last of each id: one statement must not change a row twice. */
function oneOfEach(names: readonly UsageName[]): Iterable<UsageName> {
  return new Map(names.map((name) => [idOf(name), name])).values();
}

function idOf({ kind, id }: UsageName): string {
  return `${kind} ${id}`;
}
