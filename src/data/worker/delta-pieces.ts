import type { Row } from '../../shared/entities/entity.ts';
import type { TouchedRow } from '../../shared/lookup/calls.ts';
import { type SnapshotDelta, type SnapshotEntity, snapshotEntities } from '../../shared/messages/messages.ts';

/** Collects the pieces of a large change. */
export class DeltaPieces {
  #pieces: SnapshotDelta[] = [];

  /** The whole change with the last piece; null before. */
  join(piece: SnapshotDelta, more: boolean): SnapshotDelta | null {
    if (more) {
      this.#pieces.push(piece);
      return null;
    }
    if (this.#pieces.length === 0) return piece;
    const pieces = [...this.#pieces, piece];
    this.#pieces = [];
    const upserts: Partial<Record<SnapshotEntity, readonly Row[]>> = {};
    const removes: Partial<Record<SnapshotEntity, readonly string[]>> = {};
    for (const entity of snapshotEntities) {
      upserts[entity] = pieces.flatMap((each) => each.upserts[entity] ?? []);
      removes[entity] = pieces.flatMap((each) => each.removes[entity] ?? []);
    }
    const touched: TouchedRow[] = pieces.flatMap((each) => each.touched ?? []);
    return { ...piece, upserts, removes, touched };
  }
}

/** Number of entities that a change names. */
export function sizeOf({ upserts, removes }: SnapshotDelta): number {
  return snapshotEntities.reduce(
    (sum, entity) => sum + (upserts[entity]?.length ?? 0) + (removes[entity]?.length ?? 0),
    0,
  );
}
