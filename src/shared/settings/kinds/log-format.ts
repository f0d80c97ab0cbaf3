import { suggest } from '../../util/suggest.ts';
import { SettingsError } from '../settings-error.ts';

/** A piece of a line. `json`: the variable as a JSON value (numbers bare, `null` when absent) instead of text. */
export type LogPart = { readonly text: string } | { readonly variable: string; readonly json?: 'text' | 'number' };

/** Lines of an access log: plain data that threads can send to each other. */
export interface LogFormat {
  readonly name: string;
  /** How values are escaped, as in nginx. */
  readonly escape: 'default' | 'json' | 'none';
  readonly parts: readonly LogPart[];
}

/** Formats of one kind of access log. */
export interface LogFormats {
  /** The predefined formats. The first is the default. */
  readonly builtIn: readonly LogFormat[];
  /** The setting that adds one. */
  readonly setting: string;
  /** Throws a `SettingsError` that names the variable when it is unknown. */
  check(setting: string, variable: string): void;
}

/** The format of this name, or a `SettingsError` that lists the known ones. */
export function formatNamed(
  setting: string,
  name: string | null,
  { builtIn, setting: adds }: LogFormats,
  own: LogFormat | null,
): LogFormat {
  const formats = own === null ? builtIn : [...builtIn, own];
  const found = name === null ? formats[0] : formats.find((format) => format.name === name);
  if (found !== undefined) return found;
  const names = formats.map((format) => format.name);
  const near = suggest(name ?? '', names);
  throw new SettingsError(
    `${setting} names the log format '${name}', which there is not${near === null ? '' : `; did you mean '${near}'?`} (${names.join(', ')}; ${adds} adds one)`,
  );
}

const escapes = ['default', 'json', 'none'] as const;

/** nginx's `log_format`: `name [escape=json] '$remote_addr ...' '...'`. Throws a `SettingsError` that says what is wrong. */
export function parseLogFormat(setting: string, text: string, { builtIn, check }: LogFormats): LogFormat {
  const words = wordsOf(setting, text.replace(/;\s*$/, ''));
  const [name, ...rest] = words;
  if (name === undefined || name.quoted || !/^[A-Za-z0-9_.-]+$/.test(name.text)) {
    throw new SettingsError(`${setting} must begin with a name: \`my_format '$remote_addr $status'\``);
  }
  let escaping: LogFormat['escape'] = 'default';
  const first = rest[0];
  if (first?.text.startsWith('escape=') === true) {
    const wanted = first.text.slice('escape='.length);
    const found = escapes.find((each) => each === wanted);
    if (found === undefined) throw new SettingsError(`${setting}: escape is ${escapes.join(', ')}, not '${wanted}'`);
    escaping = found;
    rest.shift();
  }
  const line = rest.map((word) => word.text).join('');
  if (line === '') throw new SettingsError(`${setting} has no text after the name '${name.text}'`);
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(line)) {
    throw new SettingsError(`${setting} must not have line breaks or other control characters in its text`);
  }
  if (builtIn.some((format) => format.name === name.text)) {
    throw new SettingsError(`${setting}: the log format '${name.text}' is there already; choose another name`);
  }
  const parts = template(line, setting);
  for (const part of parts) if ('variable' in part) check(setting, part.variable);
  return { name: name.text, escape: escaping, parts };
}

interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

/** Words of a directive: bare ones, and quoted strings with backslash escapes. */
function wordsOf(setting: string, text: string): Word[] {
  const words: Word[] = [];
  const word = /\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s'"][^\s]*))/sy;
  const end = text.trimEnd().length;
  while (word.lastIndex < end) {
    const match = word.exec(text);
    if (match === null) throw new SettingsError(`${setting} has a quotation mark without its partner`);
    const [, single, double, bare] = match;
    const quoted = single ?? double;
    words.push({ text: quoted === undefined ? (bare ?? '') : unescaped(quoted), quoted: quoted !== undefined });
  }
  return words;
}

const controls: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n' };

function unescaped(text: string): string {
  return text.replace(/\\(["'\\trn])/g, (_match, character: string) => controls[character] ?? character);
}

/** The pieces of a string with variables. */
export function template(line: string, setting = ''): readonly LogPart[] {
  const parts: LogPart[] = [];
  const piece = /\$(?:\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))|([^$]+)|\$/g;
  for (const [, braced, bare, text] of line.matchAll(piece)) {
    const variable = braced ?? bare;
    if (variable !== undefined) parts.push({ variable });
    else if (text !== undefined) parts.push({ text });
    else throw new SettingsError(`${setting} has a $ without the name of a variable behind it`);
  }
  return parts;
}
