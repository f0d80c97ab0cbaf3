import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Why a module could not be loaded, in one line: the message, and the position as `file:line:column` where it is known.
 */
export function loadProblem(error: unknown, file: string): string {
  if (!(error instanceof Error)) return String(error);
  const [message = ''] = error.message.split('\n');
  const place = excerptPlace(error) ?? importPlace(error) ?? syntaxPlace(error, file) ?? framePlace(error);
  return place === null ? message : `${message} (${place})`;
}

/** Node puts an excerpt before the stack: the file and line, the line itself, and a mark below the column. */
function excerptPlace({ stack = '' }: Error): string | null {
  const [first = '', ...rest] = stack.split('\n');
  const head = /^(file:\/\/)?(.+):(\d+)$/.exec(first);
  if (head === null) return null;
  const [, scheme, path = '', line] = head;
  const mark = rest.slice(0, 8).find((text) => /^\s*\^+\s*$/.test(text));
  const column = mark === undefined ? 1 : mark.indexOf('^') + 1;
  return `${scheme === undefined ? path : fileURLToPath(`file://${path}`)}:${line}:${column}`;
}

/** The position of the import whose module is missing. */
function importPlace({ message }: Error): string | null {
  const [, wanted = '', importer = ''] =
    /^Cannot find (?:module|package) '(.+)' imported from (.+)$/.exec(message) ?? [];
  if (importer === '') return null;
  return placeIn(importer, ({ 1: name = '' }) => name === wanted || resolve(dirname(importer), name) === wanted);
}

function placeIn(file: string, isIt: (quoted: RegExpExecArray) => boolean): string | null {
  const lines = textOf(file)?.split('\n') ?? [];
  for (const [at, line] of lines.entries()) {
    for (const quoted of line.matchAll(/['"]([^'"]+)['"]/g)) {
      if (isIt(quoted)) return `${file}:${at + 1}:${quoted.index + 1}`;
    }
  }
  return null;
}

/** V8 does not expose the position of a syntax error; the parser that strips types does. */
function syntaxPlace(error: Error, file: string): string | null {
  if (!(error instanceof SyntaxError)) return null;
  const text = textOf(file);
  if (text === null) return null;
  try {
    stripTypeScriptTypes(text, { sourceUrl: file });
  } catch (found) {
    return found instanceof Error ? excerptPlace(found) : null;
  }
  return null;
}

/** The first position in the stack outside Node and the gateway: errors that the gateway throws concern its caller. */
function framePlace({ stack = '' }: Error): string | null {
  const places = stack.split('\n').flatMap((line) => {
    const [, scheme, path, position] = /^\s+at .*?(file:\/\/)?(\/[^\s)]+?):(\d+:\d+)\)?$/.exec(line) ?? [];
    if (path === undefined) return [];
    return [`${scheme === undefined ? path : fileURLToPath(`file://${path}`)}:${position}`];
  });
  return places.find((place) => !place.startsWith(gateway)) ?? places[0] ?? null;
}

const gateway = `${dirname(dirname(import.meta.dirname))}/`;

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
