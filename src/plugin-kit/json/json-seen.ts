import { isJsonNumber, type JsonArray, type JsonObject, type JsonValue, setMember } from './json.ts';
import { JsonPathError } from './json-path-types.ts';

/** A document as filters see it. */
export interface SeenDocument {
  readonly root: JsonValue;
  /** The same for a value in the document. */
  of(value: JsonValue): JsonValue;
}

/** The depth limit of `parseJson`; the library compares values by recursion. */
const maxDepth = 512;

/**
 * Filters compare doubles: a number whose digits are kept (`JsonNumber`) is the nearest one to them. Values without such numbers are
 * not copied. Throws a `JsonPathError` for a value that is nested deeper than 512 levels.
 */
export function seenByFilters(root: JsonValue): SeenDocument {
  const copies = new Map<object, JsonValue>();
  const seen = seenOf(root, 0, copies);
  if (copies.size === 0 && seen === root) return { root, of: (value) => value };
  return {
    root: seen,
    of: (value) => {
      if (typeof value !== 'object' || value === null) return value;
      return isJsonNumber(value) ? Number(value.rawJSON) : (copies.get(value) ?? value);
    },
  };
}

function seenOf(value: JsonValue, depth: number, copies: Map<object, JsonValue>): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isJsonNumber(value)) return Number(value.rawJSON);
  if (depth >= maxDepth) throw new JsonPathError(`the value is nested deeper than ${maxDepth} levels`);
  const seen = Array.isArray(value) ? seenArray(value, depth, copies) : seenObject(value, depth, copies);
  if (seen !== value) copies.set(value, seen);
  return seen;
}

function seenArray(array: JsonArray, depth: number, copies: Map<object, JsonValue>): JsonArray {
  let copy: JsonArray | null = null;
  for (let at = 0; at < array.length; at++) {
    const element = array[at] as JsonValue;
    const seen = seenOf(element, depth + 1, copies);
    if (seen === element) continue;
    copy ??= [...array];
    copy[at] = seen;
  }
  return copy ?? array;
}

function seenObject(object: JsonObject, depth: number, copies: Map<object, JsonValue>): JsonObject {
  let copy: JsonObject | null = null;
  for (const name of Object.keys(object)) {
    const member = object[name] as JsonValue;
    const seen = seenOf(member, depth + 1, copies);
    if (seen === member) continue;
    copy ??= copyOf(object);
    setMember(copy, name, seen);
  }
  return copy ?? object;
}

function copyOf(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const name of Object.keys(object)) setMember(copy, name, object[name] as JsonValue);
  return copy;
}
