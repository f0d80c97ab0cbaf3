import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A position in a source file. `file` is an absolute path; `line` and `column` count from 1. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Where an error comes from: the first frame of its stack in the code of a plugin. Frames of Node are skipped, and those of the
 * gateway that are not of a bundled plugin: what the gateway throws concerns its caller. Code of a package is named only if no
 * other code of a plugin is in the stack. An error without such a frame is located by its cause. Never throws, whatever was thrown.
 *
 * @example
 * errorPlace(error); // { file: '/srv/plugins/quota.ts', line: 12, column: 9 }
 */
export function errorPlace(error: unknown): SourcePlace | null {
  let current = error;
  for (let depth = 0; depth < maxCauses && isObject(current); depth++) {
    const place = excerptPlace(current) ?? firstPlace(framesOf(current), isPluginFile);
    if (place !== null) return place;
    current = member(current, 'cause');
  }
  return null;
}

/** The frames of the stack that are in files: of plugins, of packages and of the gateway. Never throws. */
export function stackPlaces(error: unknown): readonly SourcePlace[] {
  return isObject(error) ? framesOf(error) : [];
}

/** As `errorPlace`, for an error while a module loads: any frame is better than none. */
export function anyFramePlace(error: unknown): SourcePlace | null {
  const frames = isObject(error) ? framesOf(error) : [];
  return firstPlace(frames, isPluginFile) ?? frames[0] ?? null;
}

/** Node puts an excerpt before the stack of a load error: the file and line, the line itself, and a mark below the column. */
export function excerptPlace(error: object): SourcePlace | null {
  const [first = '', ...rest] = stackOf(error).slice(0, maxText).split('\n', 9);
  const [, url = '', line] = /^(.{1,2000}):(\d+)$/.exec(first) ?? [];
  const file = sourceFile(url);
  if (file === null) return null;
  const mark = rest.find((text) => /^\s*\^+\s*$/.test(text));
  return { file, line: Number(line), column: mark === undefined ? 1 : mark.indexOf('^') + 1 };
}

/** The path of a module's URL, without its version; null: it is no file. */
export function sourceFile(url: string): string | null {
  if (url.startsWith('/')) return url;
  if (!url.startsWith('file:')) return null;
  try {
    return fileURLToPath(url);
  } catch {
    return null;
  }
}

/** Name of the bundled plugin whose code the file is; null: of none. */
export function bundledPluginOf(file: string): string | null {
  return file.startsWith(bundled) ? (file.slice(bundled.length).split('/', 1)[0] ?? null) : null;
}

/** Whether the file is code of a plugin: a user's, or a bundled one's. */
export function isPluginFile(file: string): boolean {
  return !file.startsWith(gateway) || file.startsWith(bundled);
}

/** `file:line:column`. */
export function placeText({ file, line, column }: SourcePlace): string {
  return `${file}:${line}:${column}`;
}

/**
 * The source line with a mark below the column; of a long line, the part around the column. Null if the file is not source code
 * or cannot be read.
 *
 * @example
 * sourceExcerpt(place);
 * // const limit = config.limits.first;
 * //                             ^
 */
export function sourceExcerpt({ file, line, column }: SourcePlace): string | null {
  const text = readSource(file)?.split('\n', line)[line - 1]?.replace(/\r$/, '');
  if (text === undefined) return null;
  const at = Math.min(Math.max(column - 1, 0), text.length);
  const first = at < maxExcerpt ? 0 : at - maxExcerpt / 2;
  const shown = text.slice(first, first + maxExcerpt);
  return `${shown}\n${shown.slice(0, at - first).replace(/[^\t]/g, ' ')}^`;
}

/** The text of a source file; null: it is none, too large, or unreadable. The place may come from a text that others wrote. */
export function readSource(file: string): string | null {
  if (!/\.[cm]?[jt]sx?$/.test(file)) return null;
  try {
    const found = statSync(file);
    return found.isFile() && found.size <= maxSource ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}

const gateway = `${dirname(dirname(import.meta.dirname))}/`;
const bundled = `${gateway}plugins/`;

const maxCauses = 8;
/** Characters of a stack that are searched, at its begin and after its message. */
const maxText = 16_384;
const maxFrames = 50;
const maxFrame = 1000;
const maxExcerpt = 160;
const maxSource = 5_000_000;

function firstPlace(frames: readonly SourcePlace[], isIt: (file: string) => boolean): SourcePlace | null {
  const own = frames.filter(({ file }) => isIt(file));
  return own.find(({ file }) => !file.includes('/node_modules/')) ?? own[0] ?? null;
}

/** Only what follows the message is searched: the message may contain what a client sent. */
function framesOf(error: object): readonly SourcePlace[] {
  const stack = stackOf(error);
  const begin = endOfMessage(error, stack);
  const lines = stack.slice(begin, begin + maxText).split('\n', maxFrames);
  return lines.map(frameOf).filter((place) => place !== null);
}

/** `at name (file:///a.ts?version=1:2:3)`, `at async file:///a.ts:2:3`, `at eval (eval at name (/a.js:2:3), <anonymous>:1:1)`. */
function frameOf(line: string): SourcePlace | null {
  if (line.length > maxFrame) return null;
  const found = /^\s+at (?:async )?(?:.*? \()?((?:file:\/\/)?\/.+?):(\d+):(\d+)\)*(?:, <anonymous>:\d+:\d+\))?$/.exec(
    line,
  );
  const file = found === null ? null : sourceFile(found[1] ?? '');
  return found === null || file === null ? null : { file, line: Number(found[2]), column: Number(found[3]) };
}

/** Where the frames of a stack begin. A message that was changed later is not in the stack. */
export function endOfMessage(error: object, stack: string): number {
  const message = textMember(error, 'message');
  const begin = stack.indexOf(message);
  return begin < 0 ? 0 : begin + message.length;
}

function stackOf(error: object): string {
  return textMember(error, 'stack');
}

export function textMember(value: object, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

/** A plugin throws any value: also one whose members throw. */
export function member(value: object, name: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
