import { createRequire } from 'node:module';

type Format = boolean | RegExp | { readonly type?: string; readonly validate: unknown };
type Check = (value: never) => boolean;

const require = createRequire(import.meta.url);
const { fullFormats } = require('ajv-formats/dist/formats.js') as {
  readonly fullFormats: Readonly<Record<string, Format>>;
};

/** Maximum characters of a text whose format is checked: the regular expressions of some formats take more than linear time. */
const maxCharacters = 2048;
const maxOf: Readonly<Record<string, number>> = { email: 320, hostname: 254, regex: 1024 };

/** Checked in linear time, whatever the length. */
const own: Readonly<Record<string, (text: string) => boolean>> = {
  byte: (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  url: (text) => text.length <= maxCharacters && /^(?:https?|ftp):\/\/[^\s]+$/.test(text) && URL.canParse(text),
};

/** The supported formats, in the form that the validator takes. */
export const formats: ReadonlyMap<string, true | { readonly type: 'string' | 'number'; readonly validate: Check }> =
  new Map(
    Object.entries(fullFormats).map(([name, format]) => [
      name,
      own[name] === undefined ? bounded(name, format) : text(own[name]),
    ]),
  );

export function isKnownFormat(name: string): boolean {
  return formats.has(name);
}

function bounded(
  name: string,
  format: Format,
): true | { readonly type: 'string' | 'number'; readonly validate: Check } {
  if (typeof format === 'boolean') return true;
  if (!(format instanceof RegExp) && typeof format === 'object' && format.type === 'number') {
    return { type: 'number', validate: format.validate as Check };
  }
  const check = checkOf(format);
  const most = maxOf[name] ?? maxCharacters;
  return text((value) => value.length <= most && check(value));
}

function checkOf(format: Exclude<Format, boolean> | Check): (text: string) => boolean {
  if (typeof format === 'function') return format as (text: string) => boolean;
  if (format instanceof RegExp) return (value) => format.test(value);
  return checkOf(format.validate as RegExp | Check as RegExp);
}

function text(validate: (value: string) => boolean): { readonly type: 'string'; readonly validate: Check } {
  return { type: 'string', validate: validate as Check };
}
