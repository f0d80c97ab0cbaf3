import type { LogFormat, LogPart } from '../settings/kinds/log-format.ts';
import { utf8AsLatin1 } from '../util/bytes/latin1.ts';
import { bare, jsonQuoted, quoted, unquoted } from './escape.ts';

/** How a variable of a log format is read. Values have one character for each byte. */
export interface Variable<Source> {
  /** Null: absent. */
  readonly read: (source: Source) => string | null;
  /** Never contains anything that must be escaped: digits, addresses, ids of the gateway. Default false. */
  readonly clean?: boolean;
  /**
   * Instead of `read` and an escape of the whole value, where a part is clean: builds the text, and escapes the rest.
   */
  readonly write?: (source: Source, escapeValue: (text: string) => string) => string;
  /** Depends only on the head of the request, which is often the same for all of a connection. Default false. */
  readonly ofHead?: boolean;
}

export type Formatter<Source> = (source: Source) => string;

export interface CompileOptions<Source> {
  readonly variable: (name: string) => Variable<Source>;
  /** Wraps what depends on the head only, so that it is not built for each request. Default: no cache. */
  readonly cache?: (make: Formatter<Source>) => Formatter<Source>;
}

/**
 * Compiles the function that writes a line of this format, without its line feed. It reads only the variables of the
 * format.
 */
export function compileFormat<Source>(format: LogFormat, options: CompileOptions<Source>): Formatter<Source> {
  const { pieces, tail } = piecesOf(format, options.variable);
  const made = withCache(pieces, options.cache);
  const count = made.length;
  return (source) => {
    let line = '';
    for (let at = 0; at < count; at++) {
      const { before, read } = made[at] as Piece<Source>;
      line += before + read(source);
    }
    return tail === '' ? line : line + tail;
  };
}

/** A variable, and the text before it. */
interface Piece<Source> {
  readonly before: string;
  readonly read: Formatter<Source>;
  readonly ofHead: boolean;
}

function piecesOf<Source>(
  { escape: escaping, parts }: LogFormat,
  variable: (name: string) => Variable<Source>,
): { readonly pieces: readonly Piece<Source>[]; readonly tail: string } {
  const pieces: Piece<Source>[] = [];
  let before = '';
  for (const part of parts) {
    if ('text' in part) {
      before += utf8AsLatin1(part.text);
      continue;
    }
    const found = variable(part.variable);
    pieces.push({ before, read: reader(part, found, escaping), ofHead: found.ofHead === true });
    before = '';
  }
  return { pieces, tail: before };
}

function reader<Source>(
  part: Extract<LogPart, { readonly variable: string }>,
  { read, write, clean = false }: Variable<Source>,
  escaping: LogFormat['escape'],
): Formatter<Source> {
  if (part.json === 'number') return (source) => read(source) ?? 'null';
  if (part.json === 'text') {
    return (source) => {
      const value = read(source);
      return value === null ? 'null' : `"${clean ? value : jsonQuoted(value)}"`;
    };
  }
  const none = escaping === 'default' ? '-' : '';
  // The variable that most formats have outside of quotes.
  const unquotedEscape = part.variable === 'remote_user' ? bare : quoted;
  const escapeValue = escaping === 'default' ? unquotedEscape : escaping === 'json' ? jsonQuoted : unquoted;
  if (write !== undefined) return (source) => write(source, escapeValue);
  if (clean) return (source) => read(source) || none;
  return (source) => {
    const value = read(source);
    if (value === null || value === '') return none;
    return escapeValue(value);
  };
}

/** The longest run of pieces that depend on the head only becomes one, which is cached. */
function withCache<Source>(
  pieces: readonly Piece<Source>[],
  cache: CompileOptions<Source>['cache'],
): readonly Piece<Source>[] {
  let start = 0;
  let length = 0;
  for (let at = 0; at < pieces.length; ) {
    let end = at;
    while (pieces[end]?.ofHead === true) end++;
    if (end - at > length) {
      start = at;
      length = end - at;
    }
    at = end + 1;
  }
  const run = pieces.slice(start, start + length);
  const [first] = run;
  if (cache === undefined || first === undefined) return pieces;
  const make: Formatter<Source> = (source) => {
    let text = '';
    for (const { before, read } of run) text += before + read(source);
    return text;
  };
  const one: Piece<Source> = { before: '', read: cache(make), ofHead: true };
  return [...pieces.slice(0, start), one, ...pieces.slice(start + length)];
}
