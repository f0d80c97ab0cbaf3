import type { Row } from '../../shared/entities/entity.ts';
import { type SnapshotDelta, type SnapshotEntity, snapshotEntities } from '../../shared/messages/messages.ts';
import { type FileHeader, readCheckedFile, writeCheckedFile } from '../../shared/util/files/checked-file.ts';
import type { Dump, FeedPosition } from '../store/store.ts';

const kind: FileHeader = { kind: 'sluicegate-last-good', format: 1 };

/** Files from before stores had an identity lack `store` and `stamp`. */
interface Header extends FileHeader, Partial<FeedPosition> {
  readonly version: number;
  readonly rows: number;
}

interface Line {
  readonly entity: SnapshotEntity;
  readonly row: Row;
}

/** Keeps the config in a file: a line for each row. */
export async function writeLastGood(path: string, config: SnapshotDelta, position: FeedPosition): Promise<void> {
  const lines = snapshotEntities.flatMap((entity) =>
    (config.upserts[entity] ?? []).map((row): Line => ({ entity, row })),
  );
  const header: Header = { ...kind, ...position, rows: lines.length };
  await writeCheckedFile(path, header, lines);
}

/** Reads the file back. Throws an `Error` of one line when it is missing, damaged or of another format. */
export async function readLastGood(path: string): Promise<Dump> {
  const { header, lines } = await readCheckedFile<Header>(path, kind);
  const entities: Partial<Record<SnapshotEntity, Row[]>> = {};
  for (const { entity, row } of lines as readonly Line[]) {
    entities[entity] ??= [];
    entities[entity].push(row);
  }
  return { store: header.store ?? '', version: header.version, stamp: header.stamp ?? '', entities };
}
