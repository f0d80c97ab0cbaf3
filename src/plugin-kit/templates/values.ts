export { utf8FromLatin1 } from '../../shared/util/bytes/latin1.ts';

/** The result of an expression. Null: absent. Objects come from claims and shared values, and have members. */
export type Value = string | number | boolean | null | object;

/** A template cannot be rendered for a request. */
export class TemplateFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateFailure';
  }
}

/** Maximum characters of a rendered template. */
export const maxResultLength = 65_536;

/** As in Lua: only absent values and false are false. */
export function isTrue(value: Value): boolean {
  return value !== null && value !== false;
}

/** Absent values are empty. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return typeof value === 'object' ? bounded(JSON.stringify(value)) : String(value);
}

/** Throws a `TemplateFailure` when it is too long. */
export function bounded(text: string): string {
  if (text.length > maxResultLength) throw new TemplateFailure(`a text grows beyond ${maxResultLength} characters`);
  return text;
}

/** A member of an object, or an element of a list, which counts from 1; null when there is none. */
export function memberOf(value: Value, key: Value): Value {
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return typeof key === 'number' ? asValue(value[key - 1]) : null;
  const name = textOf(key);
  return Object.hasOwn(value, name) ? asValue((value as Record<string, unknown>)[name]) : null;
}

function asValue(value: unknown): Value {
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return null;
  return typeof value === 'bigint' ? String(value) : (value as Value);
}
