import type { FieldSchema, NamedField } from './schema.ts';
import { fieldsOf } from './schema.ts';

export type Value = Readonly<Record<string, unknown>>;
export type Path = readonly (string | number)[];

export function isObject(value: unknown): value is Value {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function getIn(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (at === null || at === undefined ? undefined : Object(at)[key]), value);
}

/** A copy of `value` with another value at the path. */
export function setIn(value: unknown, path: Path, next: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return next;
  if (typeof key === 'number') {
    const list: unknown[] = Array.isArray(value) ? [...value] : [];
    list[key] = setIn(list[key], rest, next);
    return list;
  }
  return { ...(isObject(value) ? value : {}), [key]: setIn(isObject(value) ? value[key] : undefined, rest, next) };
}

/** The body that creates an entity: without what was left unset. */
export function bodyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bodyOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, bodyOf(item)]),
  );
}

/** The PATCH that turns `before` into `after`: records are merged by the gateway, everything else is replaced, null clears. */
export function changesOf(fields: readonly NamedField[], before: Value, after: Value): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const { name, schema } of fields) {
    const [old, next] = [before[name] ?? null, after[name] ?? null];
    if (isSame(old, next)) continue;
    if (schema.type === 'record' && isObject(old) && isObject(next)) {
      changes[name] = changesOf(fieldsOf(schema), old, next);
    } else changes[name] = bodyOf(next);
  }
  return changes;
}

export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

/** Members that are unset are equal to members that are absent. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null && item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, sorted(item)]),
  );
}

/** Fields that the gateway sets, and those that a copy of the entity cannot have. */
export function copyOf(row: Value, fields: readonly NamedField[]): Value {
  const copied = fields.map(({ name, schema }) => {
    const unique = schema.encrypted === true || schema.auto === true || name === 'instance_name';
    const value = row[name] ?? undefined;
    if (unique) return [name, undefined] as const;
    return [name, name === 'name' || name === 'username' ? copyName(value) : value] as const;
  });
  return Object.fromEntries(copied);
}

function copyName(value: unknown): unknown {
  return typeof value === 'string' ? `${value}-copy` : value;
}

/** How the text of an input becomes a value; the gateway refuses what is not a number. */
export function fromText(text: string, { type }: FieldSchema): unknown {
  if (text === '') return undefined;
  const isNumeric = type === 'integer' ? /^-?\d+$/.test(text) : type === 'number' && /^-?\d+(?:\.\d+)?$/.test(text);
  return isNumeric ? Number(text) : text;
}

export function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The messages at a field of an answer's `fields`. Elements of lists are counted from 1 in objects, and from 0 in lists. */
export function problemAt(problems: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => {
    if (Array.isArray(at) || !isObject(at)) return Array.isArray(at) ? at[Number(key)] : undefined;
    return typeof key === 'number' ? at[String(key + 1)] : at[key];
  }, problems);
}

/** The text of a problem at exactly this field. */
export function problemText(problem: unknown): string | null {
  if (typeof problem === 'string') return problem;
  if (Array.isArray(problem) && problem.every((item) => typeof item === 'string')) return problem.join('; ');
  return null;
}
