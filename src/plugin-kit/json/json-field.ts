import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue, setMember } from './json.ts';
import { compileJsonPath, isRfc9535 } from './json-path.ts';
import { type JsonPath, JsonPathError } from './json-path-types.ts';

/** A field of a JSON document, as transformers name it. Each method returns how many places it changed. */
export interface JsonField {
  remove(root: JsonValue): number;
  rename(root: JsonValue, name: string): number;
  /** Only where a value exists. */
  replace(root: JsonValue, value: JsonValue): number;
  /** Only where no value exists; missing parent objects are created. */
  add(root: JsonValue, value: JsonValue): number;
  /** Appends to the array; any other value becomes the first element of a new one. */
  append(root: JsonValue, value: JsonValue): number;
}

const known = new BoundedCache<string, JsonField>(2048);

/** `tags[]`, `user[name]`: names as in forms, not paths. */
const formName = /^[^.[\]]+(?:\[(?!-?\d+\]|\*\])[^.[\]'"]*\])+$/;

/**
 * A path of RFC 9535 (`$.user.mail`) is that path, whatever members the document has. Kong's names begin without `$`: one without `.` and
 * `[`, or of a form (`tags[]`), is a member of the document, if that is an object; any other is a path in the old spelling
 * (`compileJsonPath`), but a member of the document that bears this very name goes before it. `['a.b']` is never that member. Throws a
 * `JsonPathError`.
 */
export function jsonField(name: string): JsonField {
  let field = known.get(name);
  if (field === undefined) {
    field = fieldOf(name);
    known.set(name, field);
  }
  return field;
}

function fieldOf(name: string): JsonField {
  if (isRfc9535(name)) return new PathField(compileJsonPath(name));
  if (!/[.[]/.test(name) || formName.test(name)) return new Member(name);
  return new LiteralOrPath(name, new PathField(compileJsonPath(name)));
}

/** The problem of a field name; null: none. */
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
  readonly #path: JsonPath;

  constructor(path: JsonPath) {
    this.#path = path;
  }

  remove(root: JsonValue): number {
    return this.#path.remove(root);
  }

  rename(root: JsonValue, name: string): number {
    return this.#path.rename(root, name);
  }

  replace(root: JsonValue, value: JsonValue): number {
    return this.#path.update(root, () => value);
  }

  add(root: JsonValue, value: JsonValue): number {
    return this.#path.change(root, (current) => (current === undefined ? value : undefined));
  }

  append(root: JsonValue, value: JsonValue): number {
    return this.#path.change(root, (current) => appended(current, value));
  }
}

/** As Kong reads a name with dots: the member with this exact name, if there is one. */
class LiteralOrPath implements JsonField {
  readonly #name: string;
  readonly #literal: Member;
  readonly #path: PathField;

  constructor(name: string, path: PathField) {
    this.#name = name;
    this.#literal = new Member(name);
    this.#path = path;
  }

  remove(root: JsonValue): number {
    return this.#in(root).remove(root);
  }

  rename(root: JsonValue, name: string): number {
    return this.#in(root).rename(root, name);
  }

  replace(root: JsonValue, value: JsonValue): number {
    return this.#in(root).replace(root, value);
  }

  add(root: JsonValue, value: JsonValue): number {
    return this.#in(root).add(root, value);
  }

  append(root: JsonValue, value: JsonValue): number {
    return this.#in(root).append(root, value);
  }

  #in(root: JsonValue): JsonField {
    return has(root, this.#name) ? this.#literal : this.#path;
  }
}

function has(root: JsonValue, name: string): root is JsonObject {
  return isJsonObject(root) && Object.hasOwn(root, name);
}

/** Arrays of the document grow in place: copying for each value would be slow for many values. */
function appended(current: JsonValue | undefined, value: JsonValue): JsonArray {
  if (current === undefined) return [value];
  if (!Array.isArray(current)) return [current, value];
  current.push(value);
  return current;
}
