import { stripTypeScriptTypes } from 'node:module';
import { dirname, resolve } from 'node:path';
import { anyFramePlace, excerptPlace, placeText, readSource, type SourcePlace, sourceFile } from './error-place.ts';

/**
 * Why a module could not be loaded, in one line: the message, and the position as `file:line:column` where it is known.
 */
export function loadProblem(error: unknown, file: string): string {
  if (!(error instanceof Error)) return String(error);
  const [message = ''] = error.message.split('\n');
  const place = loadPlace(error, file);
  return place === null ? message : `${message} (${placeText(place)})`;
}

/** Where loading the module `file` failed: the position of a syntax error, of an import, or of what threw. */
export function loadPlace(error: unknown, file: string): SourcePlace | null {
  if (!(error instanceof Error)) return null;
  return excerptPlace(error) ?? importPlace(error) ?? syntaxPlace(error, file) ?? anyFramePlace(error);
}

/** The position of the import whose module is missing. */
function importPlace({ message }: Error): SourcePlace | null {
  const [, wanted = '', importer = ''] =
    /^Cannot find (?:module|package) '(.+)' imported from (.+)$/.exec(message) ?? [];
  const file = sourceFile(importer);
  if (file === null) return null;
  return placeIn(file, ({ 1: name = '' }) => name === wanted || resolve(dirname(file), name) === wanted);
}

function placeIn(file: string, isIt: (quoted: RegExpExecArray) => boolean): SourcePlace | null {
  const lines = readSource(file)?.split('\n') ?? [];
  for (const [at, line] of lines.entries()) {
    for (const quoted of line.matchAll(/['"]([^'"]+)['"]/g)) {
      if (isIt(quoted)) return { file, line: at + 1, column: quoted.index + 1 };
    }
  }
  return null;
}

/** V8 does not expose the position of a syntax error; the parser that strips types does. */
function syntaxPlace(error: Error, file: string): SourcePlace | null {
  if (!(error instanceof SyntaxError)) return null;
  const text = readSource(file);
  if (text === null) return null;
  try {
    stripTypeScriptTypes(text, { sourceUrl: file });
  } catch (found) {
    return found instanceof Error ? excerptPlace(found) : null;
  }
  return null;
}
