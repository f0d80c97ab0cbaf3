import { BodySyntaxError } from '../../../plugin-kit/json/index.ts';
import type { Rule } from '../rules/rules.ts';
import { bufferOf } from './text-coding.ts';

/** Masks the value of a field; returns the same text if nothing is masked. */
export type FieldMask = (name: string, value: string) => string;
/** Masks the name of a field. */
export type NameMask = (name: string) => string;

/** `named`: the fields that a rule names; `everywhere`: whether it searches all fields. */
export function fieldMask(
  rules: readonly Rule[],
  named: (rule: Rule) => readonly string[] | null,
  everywhere: (rule: Rule) => boolean,
): FieldMask {
  const parts = rules
    .map((rule) => ({ rule, names: new Set(named(rule) ?? []), all: everywhere(rule) }))
    .filter(({ names, all }) => names.size > 0 || all);
  return (name, value) => {
    let masked = value;
    for (const { rule, names, all } of parts) {
      if (!all && !names.has(name)) continue;
      masked = rule.maskText(masked);
      if (rule.search === null) break;
    }
    return masked;
  };
}

export function nameMask(rules: readonly Rule[]): NameMask {
  const namingRules = rules.filter(({ config, inBodies }) => inBodies && config.mask_names);
  return (name) => namingRules.reduce((masked, rule) => rule.maskText(masked), name);
}

const keepName: NameMask = (name) => name;

/**
 * Masks the values of an `application/x-www-form-urlencoded` text, or of a query. Other values keep their encoding. `strict`:
 * throws a `BodySyntaxError` for invalid escapes.
 */
export function maskedPairs(text: string, mask: FieldMask, maskName: NameMask = keepName, strict = false): string {
  if (text === '') return text;
  let changed = false;
  const pairs = text.split('&').map((pair, at) => {
    if (strict && brokenEscape.test(pair))
      throw new BodySyntaxError('a form', `an escape that is none, in field ${at + 1}`, null);
    const masked = maskedPair(pair, mask, maskName);
    if (masked !== pair) changed = true;
    return masked;
  });
  return changed ? pairs.join('&') : text;
}

const brokenEscape = /%(?![0-9A-Fa-f]{2})/;

function maskedPair(pair: string, mask: FieldMask, maskName: NameMask): string {
  const equals = pair.indexOf('=');
  if (equals < 0) {
    const name = decoded(pair);
    const masked = maskName(name);
    return masked === name ? pair : encoded(masked);
  }
  const name = decoded(pair.slice(0, equals));
  const value = decoded(pair.slice(equals + 1));
  const maskedName = maskName(name);
  const maskedValue = mask(name, value);
  const left = maskedName === name ? pair.slice(0, equals) : encoded(maskedName);
  return `${left}=${maskedValue === value ? pair.slice(equals + 1) : encoded(maskedValue)}`;
}

const coded = /[%+\x80-\xff]/;

/** Invalid escapes are unchanged. `text` has one char for each byte; bytes that are not UTF-8 are decoded as ISO-8859-1. */
export function decoded(text: string): string {
  if (!coded.test(text)) return text;
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  const utf8 = Buffer.from(bytes, 'latin1').toString('utf8');
  return utf8.includes('\ufffd') ? bytes : utf8;
}

/** Form encoding; `*` is not escaped, so that the default mask stays readable. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+');
}

export function maskedForm(body: Uint8Array, mask: FieldMask, maskName: NameMask): Uint8Array {
  return Buffer.from(maskedPairs(bufferOf(body).toString('latin1'), mask, maskName, true), 'latin1');
}
