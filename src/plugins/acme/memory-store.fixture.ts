import { randomUUID } from 'node:crypto';
import {
  type BackgroundReader,
  type BackgroundStore,
  EntityAccessError,
  type EntityRow,
} from '../../plugin-sdk/index.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A store in memory: one transaction at a time, rows expire by the clock. */
export function memoryStore(): BackgroundStore & { rows(entity: string): readonly EntityRow[] } {
  const entities = new Map<string, Map<string, EntityRow>>();
  let turn: Promise<unknown> = Promise.resolve();
  const table = (entity: string): Map<string, EntityRow> => {
    const known = entities.get(entity) ?? new Map<string, EntityRow>();
    entities.set(entity, known);
    return known;
  };
  const alive = (entity: string): EntityRow[] =>
    [...table(entity).values()].filter(({ expires_at: at }) => at === null || Number(at) > Date.now());
  const reader: BackgroundReader = {
    find: async (entity, field, value) => alive(entity).find((row) => row[field] === value) ?? null,
    list: async (entity, field, value) => alive(entity).filter((row) => row[field] === value),
    all: async (entity) => alive(entity),
  };
  const stored = (id: string, { ttl = 0, ...fields }: Fields): EntityRow => {
    const expires = Number(ttl) > 0 ? Date.now() + Number(ttl) * 1000 : null;
    return { id, created_at: Date.now(), expires_at: expires, ...fields };
  };
  const writer = {
    ...reader,
    insert: async (entity: string, fields: Fields) => {
      const key = entity === 'snis' ? 'name' : 'key';
      const taken = fields[key] !== undefined && alive(entity).some((row) => row[key] === fields[key]);
      if (taken && entity !== 'certificates') throw new EntityAccessError('conflict', `${entity}: ${key} is taken`);
      const row = stored(randomUUID(), fields);
      table(entity).set(row.id, row);
      return row;
    },
    update: async (entity: string, id: string, fields: Fields) => {
      const before = table(entity).get(id);
      if (before === undefined) return null;
      const row = { ...before, ...stored(id, fields), created_at: before.created_at };
      table(entity).set(id, row);
      return row;
    },
    delete: async (entity: string, id: string) => table(entity).delete(id),
  };
  return {
    ...reader,
    spread: 0,
    write: (work) => {
      const result = turn.then(() => work(writer));
      turn = result.catch(() => {});
      return result;
    },
    rows: alive,
  };
}
