import { createHash, type Hash } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';

/** The kind of a file, and its format. */
export interface FileHeader {
  readonly kind: string;
  /** Changes with the meaning of a line. A file of another format is not read. */
  readonly format: number;
}

/** Lines that are converted to text at a time; between two such pieces other work runs. */
const linesPerPiece = 500;

/**
 * Writes JSON lines so that a crash at any time leaves the old file or the new one: a header, the lines, and a checksum
 * of everything before it. It may hold secrets: only the owner may read it.
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

/** Reads the file. Throws an `Error` of one line when it is missing, damaged or of another kind or format. */
export async function readCheckedFile<H extends FileHeader>(
  path: string,
  { kind, format }: FileHeader,
): Promise<{ readonly header: H; readonly lines: readonly unknown[] }> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(error.code === 'ENOENT' ? 'the file does not exist' : `cannot read the file: ${error.message}`);
  });
  const [first = '', ...lines] = text.split('\n');
  const header = parse<H>(first);
  if (header?.kind !== kind) throw new Error('not a file of this kind');
  if (header.format !== format)
    throw new Error(`format ${header.format} is not supported, this version reads format ${format}`);
  const last = lines.pop() === '' ? lines.pop() : undefined;
  const checked = text.slice(0, text.length - (last?.length ?? 0) - 1);
  if (last === undefined || last !== checksumLine(createHash('sha256').update(checked)))
    throw new Error('the file is damaged');
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
