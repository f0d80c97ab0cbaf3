import type { Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { ListQuery } from '../../store/store.ts';

/** What a transaction has written, as its later reads must show it. */
export class OwnWrites {
  readonly #entities: EntityRegistry;
  /** By entity and id; null: deleted. */
  readonly #rows = new Map<string, Map<string, Row | null>>();

  constructor(entities: EntityRegistry) {
    this.#entities = entities;
  }

  set(entity: string, id: string, row: Row | null): void {
    const rows = this.#rows.get(entity);
    if (rows === undefined) this.#rows.set(entity, new Map([[id, row]]));
    else rows.set(id, row);
  }

  /** The row as it is in the transaction. `stored`: as it is in the store. */
  find(entity: string, field: string, value: string, stored: Row | null): Row | null {
    for (const row of this.#rows.get(entity)?.values() ?? []) {
      if (row !== null && textOf(row[field]) === value) return row;
    }
    return stored === null ? null : this.#still(entity, stored);
  }

  list(entity: string, query: ListQuery, stored: readonly Row[]): readonly Row[] {
    if (this.#rows.size === 0) return stored;
    const { where = {}, limit, ...rest } = query;
    const own = this.#rows.get(entity);
    if (own !== undefined && Object.keys(rest).length > 0) {
      throw new TypeError(`the transaction of a data plane cannot list a page of ${entity} that it has written`);
    }
    const rows = stored.flatMap((row) => (own?.has(row.id) ? [] : (this.#still(entity, row) ?? [])));
    const matching = [...(own?.values() ?? [])].filter((row) => row !== null && matches(row, where));
    return [...rows, ...(matching as readonly Row[])].sort(byAge).slice(0, limit);
  }

  count(entity: string): readonly (readonly [string, Row | null])[] {
    return [...(this.#rows.get(entity) ?? [])];
  }

  /** Null: the transaction has deleted it, or a row that it belongs to. */
  #still(entity: string, row: Row): Row | null {
    const own = this.#rows.get(entity);
    if (own?.has(row.id)) return null;
    for (const [field, { entity: parent }] of Object.entries(this.#entities.byName(entity)?.foreign ?? {})) {
      const id = textOf(row[field]);
      if (id !== null && this.#rows.get(parent)?.get(id) === null) return null;
    }
    return row;
  }
}

function matches(row: Row, where: NonNullable<ListQuery['where']>): boolean {
  return Object.entries(where).every(([field, wanted]) => {
    const value = textOf(row[field]);
    return Array.isArray(wanted) ? value !== null && wanted.includes(value) : value === wanted;
  });
}

function textOf(value: unknown): string | null {
  if (typeof value === 'object' && value !== null && 'id' in value) return String(value.id);
  return typeof value === 'string' ? value : null;
}

function byAge(one: Row, other: Row): number {
  return one.created_at - other.created_at || (one.id < other.id ? -1 : 1);
}
