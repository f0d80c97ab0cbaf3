import { randomUUID } from 'node:crypto';
import {
  consumerView,
  type EntityAccess,
  EntityAccessError,
  type EntityRow,
  foreignIdOf,
} from '../plugin-sdk/entity-access.ts';
import type { EntityDefinition } from '../shared/entities/entity.ts';

/** Rows by entity. A row without an `id` or `created_at` gets one. */
export type TestEntities = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Entities in memory. `slow`: every lookup returns a promise, as a first lookup does in a gateway. Foreign fields between `definitions` are enforced as a store does:
 * a row needs its parent, and is deleted with it where the field says `cascade`.
 */
export function testEntities(
  initial: TestEntities,
  slow: boolean,
  definitions: readonly EntityDefinition[] = [],
): EntityAccess {
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
  const foreignFields = definitions.flatMap(({ name: entity, foreign }) =>
    Object.entries(foreign)
      .filter(([, { entity: parent }]) => definitions.some(({ name }) => name === parent))
      .map(([field, { entity: parent, onDelete }]) => ({ entity, field, parent, cascades: onDelete === 'cascade' })),
  );
  const checkParents = (entity: string, row: EntityRow): void => {
    for (const { entity: child, field, parent } of foreignFields) {
      const id = child === entity ? foreignIdOf(row, field) : null;
      if (id === null || rowsOf(parent).some((one) => one.id === id)) continue;
      throw new EntityAccessError('conflict', `there is no ${parent} '${id}'`);
    }
  };
  const remove = (entity: string, id: string): boolean => {
    const rows = rowsOf(entity);
    const at = rows.findIndex((row) => row.id === id);
    if (at < 0) return false;
    rows.splice(at, 1);
    for (const { entity: child, field, parent, cascades } of foreignFields) {
      if (parent !== entity || !cascades) continue;
      for (const row of rowsOf(child).filter((one) => foreignIdOf(one, field) === id)) remove(child, row.id);
    }
    return true;
  };
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
      checkParents(entity, row);
      if (rowsOf(entity).some(({ id }) => id === row.id)) throw new EntityAccessError('conflict', 'the id is taken');
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
      return remove(entity, id);
    },
  };
}

function expiryOf(ttl: unknown): { readonly expires_at?: number } {
  return typeof ttl === 'number' && ttl > 0 ? { expires_at: Date.now() + ttl * 1000 } : {};
}

function complete(row: Readonly<Record<string, unknown>>): EntityRow {
  return { id: randomUUID(), created_at: Date.now(), ...row };
}
