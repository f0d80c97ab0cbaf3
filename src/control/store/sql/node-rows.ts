import { sql } from 'kysely';
import type { NodesStore } from '../nodes.ts';
import { chunks } from './chunks.ts';
import type { ColumnRow, SqlBackend } from './sql-backend.ts';

export function createNodesStore({ counters: database, types }: SqlBackend): NodesStore {
  const now = sql.raw<number>(types.now);
  return {
    putNodes: async (nodes) => {
      for (const some of chunks(nodes)) {
        const rows = some.map(({ id, data }) => sql`(${id}, ${data}, ${now})`);
        await sql`insert into cluster_nodes (id, data, seen_at) values ${sql.join(rows)}
          on conflict (id) do update set data = excluded.data, seen_at = excluded.seen_at`.execute(database);
      }
    },
    readNodes: async () => {
      // One statement, also without a node: both times are of the same clock.
      const { rows } = await sql<ColumnRow>`select ${now} as now, id, data, seen_at
        from (select 1) as one left join cluster_nodes on true order by id`.execute(database);
      const nodes = rows.flatMap(({ id, data, seen_at: seenAt }) =>
        id === null ? [] : [{ id: String(id), data: String(data), seenAt: Number(seenAt) }],
      );
      return { now: Number(rows[0]?.['now']), nodes };
    },
    removeNode: async (id) => {
      await sql`delete from cluster_nodes where id = ${id}`.execute(database);
    },
    deleteNodes: async (silentFor) => {
      const { rows } = await sql`delete from cluster_nodes where seen_at <= ${now} - ${silentFor} returning id`.execute(
        database,
      );
      return rows.length;
    },
  };
}
