import { sql } from 'kysely';
import type { NodeRole } from '../../nodes/node-report.ts';
import type { NodesStore } from '../nodes.ts';
import { chunks } from './chunks.ts';
import type { ColumnRow, SqlBackend } from './sql-backend.ts';

export function createNodesStore({ counters: database, types }: SqlBackend): NodesStore {
  const now = sql.raw<number>(types.now);
  return {
    putNodes: async (nodes) => {
      for (const some of chunks(nodes)) {
        const rows = some.map(({ id, role, data }) => sql`(${id}, ${role}, ${data}, ${now})`);
        await sql`insert into cluster_nodes (id, role, data, seen_at) values ${sql.join(rows)}
          on conflict (id) do update set role = excluded.role, data = excluded.data, seen_at = excluded.seen_at`.execute(
          database,
        );
      }
    },
    countNodes: async (roles, within) => {
      const { rows } = await sql<ColumnRow>`select count(*) as nodes from cluster_nodes
        where role in (${sql.join(roles)}) and seen_at > ${now} - ${within}`.execute(database);
      return Number(rows[0]?.['nodes']);
    },
    readNodes: async () => {
      // One statement, also without a node: both times are of the same clock.
      const { rows } = await sql<ColumnRow>`select ${now} as now, id, role, data, seen_at
        from (select 1) as one left join cluster_nodes on true order by id`.execute(database);
      const nodes = rows.flatMap(({ id, role, data, seen_at: seenAt }) =>
        id === null ? [] : [{ id: String(id), role: role as NodeRole, data: String(data), seenAt: Number(seenAt) }],
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
