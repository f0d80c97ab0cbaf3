import type { Row } from '../../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../../shared/entities/registry.ts';
import { foreignId } from '../../../../shared/entities/row-fields.ts';
import type { ConfigRows } from '../../contract.ts';

export interface Referring {
  readonly entity: string;
  readonly row: Row;
  /** It is deleted with the row that it refers to. */
  readonly isPart: boolean;
}

/** The rows of a config by id, and by what they refer to. */
export interface ConfigIndex {
  readonly rows: ConfigRows;
  get(entity: string, id: string): Row | null;
  /** Rows with a foreign field that has this id. */
  referringTo(entity: string, id: string): readonly Referring[];
}

const none: readonly Referring[] = [];

export function createConfigIndex(rows: ConfigRows, entities: EntityRegistry): ConfigIndex {
  const byId = new Map<string, Map<string, Row>>();
  const referring = new Map<string, Referring[]>();
  for (const [entity, list] of Object.entries(rows)) {
    const definition = entities.byName(entity);
    byId.set(entity, new Map(list.map((row) => [row.id, row])));
    for (const [field, foreign] of Object.entries(definition?.foreign ?? {})) {
      for (const row of list) {
        const id = foreignId(row, field);
        if (id === null) continue;
        const key = keyOf(foreign.entity, id);
        const found = referring.get(key);
        const one = { entity, row, isPart: foreign.onDelete === 'cascade' };
        if (found === undefined) referring.set(key, [one]);
        else found.push(one);
      }
    }
  }
  return {
    rows,
    get: (entity, id) => byId.get(entity)?.get(id) ?? null,
    referringTo: (entity, id) => referring.get(keyOf(entity, id)) ?? none,
  };
}

export function keyOf(entity: string, id: string): string {
  return `${entity}:${id}`;
}
