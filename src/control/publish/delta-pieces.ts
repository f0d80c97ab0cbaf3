import type { Row } from '../../shared/entities/entity.ts';
import { type SnapshotDelta, type SnapshotEntity, snapshotEntities } from '../../shared/messages/messages.ts';

/** Maximum entities in one message: a worker parses it between two requests. */
const entitiesPerPiece = 256;

interface Piece {
  readonly version: number;
  readonly full: boolean;
  readonly upserts: Partial<Record<SnapshotEntity, Row[]>>;
  readonly removes: Partial<Record<SnapshotEntity, string[]>>;
}

/** A change as messages of bounded size, in order. What is not a list of entities comes with the last one. */
export function deltaPieces(delta: SnapshotDelta): readonly SnapshotDelta[] {
  const { version, full } = delta;
  const pieces: Piece[] = [];
  let piece: Piece = { version, full, upserts: {}, removes: {} };
  let size = 0;
  const room = (): Piece => {
    if (size === entitiesPerPiece) {
      pieces.push(piece);
      piece = { version, full, upserts: {}, removes: {} };
      size = 0;
    }
    size++;
    return piece;
  };
  for (const entity of snapshotEntities) {
    for (const row of delta.upserts[entity] ?? []) {
      const { upserts } = room();
      upserts[entity] ??= [];
      upserts[entity].push(row);
    }
    for (const id of delta.removes[entity] ?? []) {
      const { removes } = room();
      removes[entity] ??= [];
      removes[entity].push(id);
    }
  }
  return [...pieces, { ...delta, upserts: piece.upserts, removes: piece.removes }];
}
