import { createHash, type Hash } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';

/** What a file is, and in which form. */
export interface FileHeader {
  readonly kind: string;
  /** Changes with the meaning of a line. A file of another format is not read. */
  readonly format: number;
}

/** Lines that are turned into text at a time; between two such pieces others are served. */
const linesPerPiece = 500;

/**
 * Writes JSON lines so that a crash at any time leaves the old file or the new one: a header, the lines, and a checksum
 * of all that is before it. It may hold secrets: only the owner may read it.
 */
export async function writeCheckedFile(path: string, header: FileHeader, lines: readonly unknown[]): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    const hash = createHash('sha256');
    for (const piece of pieces(header, lines)) {
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

/** Reads the file back. Throws an `Error` of one line when it is missing, damaged or of another kind or format. */
export async function readCheckedFile<H extends FileHeader>(
  path: string,
  { kind, format }: FileHeader,
): Promise<{ readonly header: H; readonly lines: readonly unknown[] }> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(error.code === 'ENOENT' ? 'there is none' : `it cannot be read: ${error.message}`);
  });
  const [first = '', ...lines] = text.split('\n');
  const header = parse<H>(first);
  if (header?.kind !== kind) throw new Error('it is not such a file');
  if (header.format !== format) throw new Error(`it is of format ${header.format}, this version reads ${format}`);
  const last = lines.pop() === '' ? lines.pop() : undefined;
  const checked = text.slice(0, text.length - (last?.length ?? 0) - 1);
  if (last === undefined || last !== checksumLine(createHash('sha256').update(checked)))
    throw new Error('it is damaged');
  return { header, lines: lines.map((line) => JSON.parse(line) as unknown) };
}

function* pieces(header: FileHeader, lines: readonly unknown[]): Generator<string> {
  yield `${JSON.stringify(header)}\n`;
  for (let from = 0; from < lines.length; from += linesPerPiece) {
    yield lines
      .slice(from, from + linesPerPiece)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');
  }
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
