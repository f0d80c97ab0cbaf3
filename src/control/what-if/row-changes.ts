import type { Row } from '../../shared/entities/entity.ts';
import { type SnapshotDelta, snapshotEntities } from '../../shared/messages/messages.ts';

/** Rows that a change would leave, by entity and id; null: it would delete the row. */
export class RowChanges {
  readonly #entities = new Map<string, Map<string, Row | null>>();
  #size = 0;

  /** A later change of the same row replaces the earlier one. */
  set(entity: string, id: string, after: Row | null): void {
    const rows = this.#entities.get(entity) ?? new Map<string, Row | null>();
    this.#entities.set(entity, rows);
    if (!rows.has(id)) this.#size++;
    rows.set(id, after);
  }

  get size(): number {
    return this.#size;
  }

  /** The config with the changes. */
  applyTo(config: SnapshotDelta): SnapshotDelta {
    const upserts: Partial<Record<string, readonly Row[]>> = {};
    for (const entity of snapshotEntities) upserts[entity] = this.#changed(entity, config.upserts[entity] ?? []);
    return { ...config, upserts };
  }

  /** The rows that answer a lookup, as they would be. `rows`: as they are. */
  answer(question: { readonly entity: string; readonly field: string; readonly value: string }, rows: readonly Row[]) {
    const changed = this.#entities.get(question.entity);
    if (changed === undefined) return rows;
    const kept = rows.filter(({ id }) => !changed.has(id));
    for (const row of changed.values()) if (row !== null && hasValue(row, question)) kept.push(row);
    return kept;
  }

  #changed(entity: string, rows: readonly Row[]): readonly Row[] {
    const changed = this.#entities.get(entity);
    if (changed === undefined) return rows;
    const kept = rows.filter(({ id }) => !changed.has(id));
    for (const row of changed.values()) if (row !== null) kept.push(row);
    return kept;
  }
}

function hasValue(row: Row, { field, value }: { readonly field: string; readonly value: string }): boolean {
  const stored: unknown = row[field];
  if (typeof stored === 'object' && stored !== null && 'id' in stored) return stored.id === value;
  return stored === value;
}
