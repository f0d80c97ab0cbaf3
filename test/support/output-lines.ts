import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Milliseconds. */
const limit = 60_000;

/**
 * Reads lines of a program until one of them makes `enough` true; whatever follows is thrown away. Throws with the lines so far when the
 * program ends before, or after a minute.
 */
export async function readLinesUntil(
  program: string,
  output: Readable | null,
  enough: (line: string) => boolean,
): Promise<void> {
  if (output === null) throw new Error(`${program} has no output`);
  const lines: string[] = [];
  const reader = createInterface({ input: output });
  const late = setTimeout(() => reader.close(), limit);
  try {
    for await (const line of reader) {
      lines.push(line);
      if (enough(line)) return;
    }
  } finally {
    clearTimeout(late);
    output.resume();
  }
  throw new Error(`${program} did not start:\n${lines.join('\n')}`);
}
