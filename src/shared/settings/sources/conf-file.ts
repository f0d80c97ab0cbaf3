import { SettingsError } from '../settings-error.ts';

export interface ConfEntry {
  readonly name: string;
  readonly text: string;
  readonly line: number;
}

/** Parses `key = value` lines. `#` starts a comment, `\#` is a literal one; a value may be quoted. */
export function parseConfFile(path: string, content: string): readonly ConfEntry[] {
  const entries = new Map<string, ConfEntry>();
  for (const [index, raw] of content
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = index + 1;
    const text = withoutComment(raw).trim();
    if (text === '') continue;
    const split = text.indexOf('=');
    const name = split < 0 ? '' : text.slice(0, split).trim();
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
      throw new SettingsError(`${path} line ${line}: expected "key = value", found '${text}'`);
    }
    const earlier = entries.get(name);
    if (earlier !== undefined) {
      throw new SettingsError(`${path} line ${line}: ${name} is already set on line ${earlier.line}`);
    }
    entries.set(name, { name, text: withoutQuotes(text.slice(split + 1).trim()), line });
  }
  return [...entries.values()];
}

function withoutComment(line: string): string {
  return line.replace(/\\#|#.*/g, (found) => (found === '\\#' ? '#' : ''));
}

function withoutQuotes(text: string): string {
  const match = /^(["'])(.*)\1$/.exec(text);
  return match?.[2] ?? text;
}
