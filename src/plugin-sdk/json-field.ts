import { BoundedCache } from '../util/bounded-cache.ts';
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue, setMember } from './json.ts';
import { compileJsonPath, type JsonPath, JsonPathError } from './json-path.ts';

/** A field of a JSON document, as transformers name it. Each method returns how many places it changed. */
export interface JsonField {
  remove(root: JsonValue): number;
  rename(root: JsonValue, name: string): number;
  /** Only where something is. */
  replace(root: JsonValue, value: JsonValue): number;
  /** Only where nothing is; objects on the way are made. */
  add(root: JsonValue, value: JsonValue): number;
  /** To the array that is there; another value becomes its first element. */
  append(root: JsonValue, value: JsonValue): number;
}

const known = new BoundedCache<string, JsonField>(2048);

/** `tags[]`, `user[name]`: as forms have them; no path. */
const formName = /^[^.[\]]+(?:\[(?!-?\d+\]|\*\])[^.[\]'"]*\])+$/;

/**
 * A name without `.` and `[`, and one of a form (`tags[]`), is a member of the document, if that is an object. Any other is a path (`compileJsonPath`), but a member of
 * the document that bears this very name goes before it; `['a.b']` is never a path. Throws a `JsonPathError`.
 */
export function jsonField(name: string): JsonField {
  let field = known.get(name);
  if (field === undefined) {
    const plain = !/[.[]/.test(name) || formName.test(name);
    field = plain ? new Member(name) : new PathField(name, compileJsonPath(name));
    known.set(name, field);
  }
  return field;
}

/** What is wrong with the name of a field; null when nothing is. */
export function jsonFieldProblem(name: string): string | null {
  try {
    jsonField(name);
    return null;
  } catch (error) {
    if (error instanceof JsonPathError) return error.message;
    throw error;
  }
}

class Member implements JsonField {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  remove(root: JsonValue): number {
    if (!has(root, this.#name)) return 0;
    delete root[this.#name];
    return 1;
  }

  rename(root: JsonValue, name: string): number {
    if (!has(root, this.#name) || name === this.#name) return 0;
    const value = root[this.#name] as JsonValue;
    delete root[this.#name];
    setMember(root, name, value);
    return 1;
  }

  replace(root: JsonValue, value: JsonValue): number {
    if (!has(root, this.#name)) return 0;
    setMember(root, this.#name, value);
    return 1;
  }

  add(root: JsonValue, value: JsonValue): number {
    if (!isJsonObject(root) || has(root, this.#name)) return 0;
    setMember(root, this.#name, value);
    return 1;
  }

  append(root: JsonValue, value: JsonValue): number {
    if (!isJsonObject(root)) return 0;
    setMember(root, this.#name, appended(has(root, this.#name) ? root[this.#name] : undefined, value));
    return 1;
  }
}

class PathField implements JsonField {
  readonly #literal: Member;
  readonly #name: string;
  readonly #path: JsonPath;

  constructor(name: string, path: JsonPath) {
    this.#literal = new Member(name);
    this.#name = name;
    this.#path = path;
  }

  remove(root: JsonValue): number {
    return has(root, this.#name) ? this.#literal.remove(root) : this.#path.remove(root);
  }

  rename(root: JsonValue, name: string): number {
    return has(root, this.#name) ? this.#literal.rename(root, name) : this.#path.rename(root, name);
  }

  replace(root: JsonValue, value: JsonValue): number {
    return has(root, this.#name) ? this.#literal.replace(root, value) : this.#path.update(root, () => value);
  }

  add(root: JsonValue, value: JsonValue): number {
    if (has(root, this.#name)) return 0;
    return this.#path.change(root, (current) => (current === undefined ? value : undefined));
  }

  append(root: JsonValue, value: JsonValue): number {
    if (has(root, this.#name)) return this.#literal.append(root, value);
    return this.#path.change(root, (current) => appended(current, value));
  }
}

function has(root: JsonValue, name: string): root is JsonObject {
  return isJsonObject(root) && Object.hasOwn(root, name);
}

/** An array of the document grows in place: a new one for each value would make many of them slow. */
function appended(current: JsonValue | undefined, value: JsonValue): JsonArray {
  if (current === undefined) return [value];
  if (!Array.isArray(current)) return [current, value];
  current.push(value);
  return current;
}
