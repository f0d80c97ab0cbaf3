import { randomUUID } from 'node:crypto';
import { consumerView, type EntityAccess, type EntityRow, foreignIdOf } from '../entity-access.ts';

export type TestEntities = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Entities that live in memory. Rows get an `id` and a `created_at` when they have none. `slow`: every answer comes by a
 * promise, as the first one for a key does in a gateway.
 */
export function testEntities(initial: TestEntities, slow: boolean): EntityAccess {
  const tables = new Map<string, EntityRow[]>();
  for (const [entity, rows] of Object.entries(initial)) tables.set(entity, rows.map(complete));
  const rowsOf = (entity: string): EntityRow[] => {
    const rows = tables.get(entity) ?? [];
    tables.set(entity, rows);
    return rows;
  };
  const alive = (entity: string): readonly EntityRow[] =>
    rowsOf(entity).filter((row) => typeof row['expires_at'] !== 'number' || row['expires_at'] > Date.now());
  const answer = <T>(value: T): T | Promise<T> => (slow ? Promise.resolve(value) : value);
  const find = (entity: string, field: string, value: string): EntityRow | null =>
    alive(entity).find((row) => row[field] === value) ?? null;
  return {
    find: (entity, field, value) => answer(find(entity, field, value)),
    list: (entity, field, id) => answer(alive(entity).filter((row) => (foreignIdOf(row, field) ?? row[field]) === id)),
    consumer(idOrName) {
      const row = find('consumers', uuid.test(idOrName) ? 'id' : 'username', idOrName);
      return answer(row === null ? null : consumerView(row));
    },
    async insert(entity, { ttl, ...fields }) {
      const expiry = expiryOf(ttl);
      const row = complete({ ...fields, ...expiry });
      rowsOf(entity).push(row);
      return row;
    },
    async update(entity, id, { ttl, ...fields }) {
      const rows = rowsOf(entity);
      const at = rows.findIndex((row) => row.id === id);
      if (at < 0) return null;
      const row = { ...rows[at]!, ...fields, ...expiryOf(ttl), id };
      rows[at] = row;
      return row;
    },
    async delete(entity, id) {
      const rows = rowsOf(entity);
      const at = rows.findIndex((row) => row.id === id);
      if (at >= 0) rows.splice(at, 1);
      return at >= 0;
    },
  };
}

function expiryOf(ttl: unknown): { readonly expires_at?: number } {
  return typeof ttl === 'number' && ttl > 0 ? { expires_at: Date.now() + ttl * 1000 } : {};
}

function complete(row: Readonly<Record<string, unknown>>): EntityRow {
  return { id: randomUUID(), created_at: Date.now(), ...row };
}
