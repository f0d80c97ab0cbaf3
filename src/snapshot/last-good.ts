import { createHash, type Hash } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import type { Row } from '../entities/entity.ts';
import type { Dump } from '../store/store.ts';
import { type SnapshotDelta, type SnapshotEntity, snapshotEntities } from '../workers/messages.ts';

/** Changes with the meaning of a line. A file of another format is not read. */
const format = 1;
const kind = 'sluicegate-last-good';

interface Header {
  readonly kind: string;
  readonly format: number;
  readonly version: number;
  readonly rows: number;
}

/** Rows that are turned into text at a time; between two such pieces the control plane serves others. */
const rowsPerPiece = 500;

/**
 * Writes the config so that a crash at any time leaves the old file or the new one: a header, a line for each row, and a
 * checksum of all that is before it. It holds private keys: only the owner may read it.
 */
export async function writeLastGood(path: string, config: SnapshotDelta): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    const hash = createHash('sha256');
    for (const piece of pieces(config)) {
      hash.update(piece);
      await file.write(piece);
    }
    await file.write(`${checksumLine(hash)}\n`);
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await file.close();
  await rename(temporary, path);
}

/** Reads the file back. Throws an `Error` of one line when it is missing, damaged or of another format. */
export async function readLastGood(path: string): Promise<Dump> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(error.code === 'ENOENT' ? 'there is none' : `it cannot be read: ${error.message}`);
  });
  const [first = '', ...lines] = text.split('\n');
  const header = parse<Header>(first);
  if (header?.kind !== kind) throw new Error('it is not such a file');
  if (header.format !== format) throw new Error(`it is of format ${header.format}, this version reads ${format}`);
  const last = lines.pop() === '' ? lines.pop() : undefined;
  const checked = text.slice(0, text.length - (last?.length ?? 0) - 1);
  if (last === undefined || last !== checksumLine(createHash('sha256').update(checked)))
    throw new Error('it is damaged');
  return { version: header.version, entities: entitiesOf(lines) };
}

function* pieces(config: SnapshotDelta): Generator<string> {
  const all = snapshotEntities.flatMap((entity) => (config.upserts[entity] ?? []).map((row) => ({ entity, row })));
  const header: Header = { kind, format, version: config.version, rows: all.length };
  yield `${JSON.stringify(header)}\n`;
  for (let from = 0; from < all.length; from += rowsPerPiece) {
    yield all
      .slice(from, from + rowsPerPiece)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');
  }
}

function entitiesOf(lines: readonly string[]): Readonly<Record<string, readonly Row[]>> {
  const entities: Partial<Record<SnapshotEntity, Row[]>> = {};
  for (const line of lines) {
    const { entity, row } = JSON.parse(line) as { readonly entity: SnapshotEntity; readonly row: Row };
    entities[entity] ??= [];
    entities[entity].push(row);
  }
  return entities;
}

function checksumLine(hash: Hash): string {
  return JSON.stringify({ sha256: hash.digest('hex') });
}

function parse<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}
