import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { type ConfigDocument, DocumentError, type DocumentPath } from '../../control/declarative/contract.ts';
import { documentFrom, parseDocument } from '../../control/declarative/document/parse-document.ts';
import { isConfigModule, loadConfigModule } from '../../shared/config-module/load-config-module.ts';
import { CliError } from '../cli-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One document made of one or several files. */
export interface ReadDocument {
  /** What to send: JSON of one document. */
  readonly document: ConfigDocument;
  readonly selectTags: readonly string[];
  /** Where a value of the document is in the files: `kong.yaml:12`; the name of the file when the line is not known. */
  placeOf(path: DocumentPath): string;
}

/** Largest file in bytes. */
const maxFile = 256 * 2 ** 20;
const extensions: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/**
 * Reads files and folders; `-` is standard input. The lists of several files are joined, as decK does. A module of TypeScript or
 * JavaScript is run, where its name is given: not in a folder. Rejects with a `CliError` of one line with file, line and reason.
 */
export async function readDocuments(paths: readonly string[], cwd: string): Promise<ReadDocument> {
  const parts: Part[] = [];
  for (const path of paths) {
    if (isConfigModule(path)) parts.push(await readModule(path, resolve(cwd, path)));
    else parts.push(...filesIn(path, cwd).map(({ shown, text }) => readPart(shown, text)));
  }
  const [only] = parts;
  if (only === undefined) throw new CliError('there is no file with the extension .yaml, .yml or .json');
  const selectTags = [...new Set(parts.flatMap(({ document }) => document.selectTags ?? []))];
  if (parts.length === 1) {
    return { document: only.document, selectTags, placeOf: (path) => placeIn(only, path) };
  }
  return { ...joined(parts), selectTags };
}

interface Part {
  readonly shown: string;
  readonly document: ConfigDocument;
}

/** The files that `readDocuments` would read; what cannot be read is left out. */
export function listFiles(paths: readonly string[], cwd: string): readonly string[] {
  return paths.flatMap((path) => {
    const full = resolve(cwd, path);
    if (statSync(full, { throwIfNoEntry: false })?.isDirectory() !== true) return [full];
    return documentsIn(full).map((name) => join(full, name));
  });
}

/** Relative names, in the order of their paths. Hidden files and folders are left out. */
function documentsIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => extensions.has(extname(name)) && !/(?:^|[\\/])\./.test(name))
    .sort();
}

function filesIn(path: string, cwd: string): readonly { readonly shown: string; readonly text: string }[] {
  try {
    if (path === '-') return [{ shown: '-', text: readFileSync(0, 'utf8') }];
    const full = resolve(cwd, path);
    const facts = statSync(full);
    if (facts.isDirectory()) {
      return documentsIn(full).flatMap((name) => filesIn(join(path, name), cwd));
    }
    if (facts.size > maxFile) throw new CliError(`${path}: larger than ${maxFile / 2 ** 20} MiB`);
    return [{ shown: path, text: readFileSync(full, 'utf8') }];
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot read ${path}: ${error instanceof Error ? error.message : error}`);
  }
}

async function readModule(shown: string, file: string): Promise<Part> {
  try {
    return { shown, document: documentFrom(await loadConfigModule(file), { deck: true }) };
  } catch (error) {
    throw new CliError(`${shown}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readPart(shown: string, text: string): Part {
  try {
    return { shown, document: parseDocument(text, { deck: true }) };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const { position, message } = error;
    const line = position === null ? '' : `:${position.line}:${position.column}`;
    throw new CliError(`${shown}${line}: ${message}`);
  }
}

function placeIn({ shown, document }: Part, path: DocumentPath): string {
  const position = document.positionOf(path);
  return position === null ? shown : `${shown}:${position.line}`;
}

/** The lists of all parts, one after another. What is not a list must be the same in all of them. */
function joined(parts: readonly Part[]): Pick<ReadDocument, 'document' | 'placeOf'> {
  const content: Record<string, unknown> = {};
  const owners = new Map<string, Part>();
  /** For each list, the index at which each part begins. */
  const starts = new Map<string, { readonly part: Part; readonly from: number }[]>();
  for (const part of parts) {
    for (const [key, value] of Object.entries(part.document.content as Fields)) {
      const present = content[key];
      const owner = owners.get(key);
      if (Array.isArray(value) && (present === undefined || Array.isArray(present))) {
        const list: readonly unknown[] = present ?? [];
        starts.set(key, [...(starts.get(key) ?? []), { part, from: list.length }]);
        content[key] = [...list, ...value];
      } else if (owner !== undefined && JSON.stringify(present) !== JSON.stringify(value)) {
        throw new CliError(`${placeIn(part, [key])}: ${key} differs from that in ${owner.shown}`);
      } else content[key] = value;
      owners.set(key, part);
    }
  }
  const placeOf = (path: DocumentPath): string => {
    const [key, index, ...rest] = path;
    const found =
      typeof index === 'number'
        ? starts.get(String(key))?.findLast(({ from }) => from <= index)
        : starts.get(String(key))?.[0];
    if (found === undefined) return parts.map(({ shown }) => shown).join(', ');
    return typeof index === 'number'
      ? placeIn(found.part, [String(key), index - found.from, ...rest])
      : placeIn(found.part, path);
  };
  const hash = parts.map(({ document }) => document.hash).join('');
  return { document: { content, hash, positionOf: () => null }, placeOf };
}
