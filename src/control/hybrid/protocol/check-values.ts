import type { Row } from '../../../shared/entities/entity.ts';
import type { FeedPosition } from '../../store/store.ts';

/** A message that does not keep to the protocol. Its text names the member, never the value: that may be a secret. */
export class MalformedMessage extends Error {}

/** A value that came from the other end, as its type; throws a `MalformedMessage` when it is not of it. */
export type Check<T> = (value: unknown, name: string) => T;

export function fail(name: string, expected: string): never {
  throw new MalformedMessage(`${name} is not ${expected}`);
}

export function object(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(name, 'an object');
  return value as Readonly<Record<string, unknown>>;
}

/** `max`: UTF-16 units. */
export function text(max: number): Check<string> {
  return (value, name) => (typeof value === 'string' && value.length <= max ? value : fail(name, 'a text'));
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Check<number> {
  return (value, name) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : fail(name, 'an integer in its range');
}

export function number(value: unknown, name: string): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : fail(name, 'a number');
}

export function boolean(value: unknown, name: string): boolean {
  return typeof value === 'boolean' ? value : fail(name, 'a boolean');
}

export function oneOf<const T extends string>(...values: readonly T[]): Check<T> {
  return (value, name) => (values.includes(value as T) ? (value as T) : fail(name, 'a known word'));
}

export function list<T>(check: Check<T>, max: number): Check<readonly T[]> {
  return (value, name) => {
    if (!Array.isArray(value) || value.length > max) fail(name, 'a list');
    return (value as readonly unknown[]).map((item) => check(item, name));
  };
}

export function nullable<T>(check: Check<T>): Check<T | null> {
  return (value, name) => (value === null ? null : check(value, name));
}

/** Absent members are undefined. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value, name) => (value === undefined ? undefined : check(value, name));
}

export function texts(maxCount: number, maxLength: number): Check<Readonly<Record<string, string>>> {
  const check = text(maxLength);
  return (value, name) => {
    const entries = Object.entries(object(value, name));
    if (entries.length > maxCount || entries.some(([key]) => key.length > maxLength)) fail(name, 'a list of texts');
    return Object.fromEntries(entries.map(([key, item]) => [key, check(item, name)]));
  };
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function uuid(value: unknown, name: string): string {
  return typeof value === 'string' && uuidPattern.test(value) ? value : fail(name, 'a UUID');
}

/** Members of ids and names of entities and fields. */
export const word: Check<string> = text(255);

export function position(value: unknown, name: string): FeedPosition {
  const { store, version, stamp } = object(value, name);
  return {
    store: word(store, `${name}.store`),
    version: integer(-1)(version, `${name}.version`),
    stamp: word(stamp, `${name}.stamp`),
  };
}

/** Other members are as the store has them; the reader checks what it uses. */
export function row(value: unknown, name: string): Row {
  const fields = object(value, name);
  text(1024)(fields['id'], `${name}.id`);
  number(fields['created_at'], `${name}.created_at`);
  return fields as Row;
}
