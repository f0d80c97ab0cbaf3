import { readFileSync } from 'node:fs';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { resolve } from 'node:path';
import { CliError } from '../../../cli-error.ts';

/**
 * The headers of `--header 'Name: value'`, or of `--header @file` with one on each line. Errors name the header and never show a
 * value.
 */
export function readHeaders(given: readonly string[], directory: string): Readonly<Record<string, string>> {
  const lines = given.flatMap((text) => (text.startsWith('@') ? linesOf(text.slice(1), directory) : [text]));
  return Object.fromEntries(lines.map(headerOf));
}

function linesOf(file: string, directory: string): readonly string[] {
  try {
    const lines = readFileSync(resolve(directory, file), 'utf8').split(/\r?\n/);
    return lines.filter((line) => line.trim() !== '');
  } catch (error) {
    throw new CliError(`--header: cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}

function headerOf(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  if (colon < 1) throw new CliError("--header must be like 'Kong-Admin-Token: <token>'");
  const name = line.slice(0, colon).trim();
  const value = line.slice(colon + 1).trim();
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new CliError(
      "--header has characters that a header cannot have; it must be like 'Kong-Admin-Token: <token>'",
    );
  }
  return [name, value];
}
