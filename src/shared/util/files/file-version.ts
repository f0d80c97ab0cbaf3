import { stat } from 'node:fs/promises';

/** Changes whenever the content of the file does, also when it is replaced or a link on its path changes; null: there is no such file. */
export async function fileVersion(path: string): Promise<string | null> {
  try {
    const facts = await stat(path);
    return facts.isFile() ? `${facts.dev} ${facts.ino} ${facts.mtimeMs} ${facts.ctimeMs} ${facts.size}` : null;
  } catch {
    return null;
  }
}
