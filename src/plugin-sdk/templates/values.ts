export { readBytes } from '../../util/latin1.ts';

/** What an expression gives. Null stands for what is absent; the rest comes from claims and the like, and has members. */
export type Value = string | number | boolean | null | object;

/** A template met something at run time that it cannot work with. */
export class TemplateFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateFailure';
  }
}

/** Characters of what a template makes, at most. */
export const longestResult = 65_536;

/** As Lua has it: only what is absent and false. */
export function isTrue(value: Value): boolean {
  return value !== null && value !== false;
}

/** What is absent is empty. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return typeof value === 'object' ? bounded(JSON.stringify(value)) : String(value);
}

/** Throws a `TemplateFailure` when it is too long. */
export function bounded(text: string): string {
  if (text.length > longestResult) throw new TemplateFailure(`a text grows beyond ${longestResult} characters`);
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
