import { isJsonObject, type JsonArray, type JsonObject, type JsonValue, setMember } from './json.ts';

/** A place in a JSON value, or several: `data.items[*].id`. */
export interface JsonPath {
  readonly text: string;
  /** Ends in `[*]` or has one on its way: there may be several places. */
  readonly many: boolean;
  /** What is there, in order; empty when nothing is. */
  values(root: JsonValue): JsonValue[];
  /** Replaces what is there. Returns how many places there were, as the others do. */
  update(root: JsonValue, change: (value: JsonValue) => JsonValue): number;
  /** Takes it away; elements of arrays move up. */
  remove(root: JsonValue): number;
  /** Gives the last name of the path another one, within the same object. */
  rename(root: JsonValue, name: string): number;
  /**
   * Sets it, there or not. With `create` objects on the way that are missing are made; elements of arrays never are. Returns how many
   * places were set.
   */
  set(root: JsonValue, value: JsonValue, options?: { readonly create?: boolean }): number;
  /**
   * Shows what is there, undefined where nothing is, to `change`, which returns what shall be there, or undefined to leave it. Objects on
   * the way that are missing are made; elements of arrays never are. Returns how many places were changed.
   */
  change(root: JsonValue, change: (value: JsonValue | undefined) => JsonValue | undefined): number;
}

/** A path that cannot be read; the message says why. */
export class JsonPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPathError';
  }
}

const every = Symbol('every element');
type Step = string | number | typeof every;

const mostSteps = 64;

/**
 * Reads a path of names joined by dots, `['any name']` or `["any name"]`, `[0]` for an element (negative: from the end) and `[*]`
 * for each element of an array or member of an object. `$` or `$.` may stand in front. Throws a `JsonPathError`.
 */
export function compileJsonPath(text: string): JsonPath {
  return new CompiledPath(text, stepsOf(text));
}

const token = /\.?([^.[\]'"\s$][^.[\]'"\s]*)|\[(\*|-?\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/y;

function stepsOf(text: string): readonly Step[] {
  const steps: Step[] = [];
  let at = text.startsWith('$') ? 1 : 0;
  while (at < text.length) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (found === null || (steps.length === 0 && at === 0 && text.startsWith('.'))) throw malformed(text, at);
    const [whole, name, index, single, double] = found;
    if (name !== undefined && at > 0 && !whole.startsWith('.')) throw malformed(text, at);
    if (index !== undefined) steps.push(index === '*' ? every : Number(index));
    else steps.push((name ?? single ?? double) as string);
    at += whole.length;
  }
  if (steps.length === 0) throw new JsonPathError('a path must name something');
  if (steps.length > mostSteps) throw new JsonPathError(`a path has ${mostSteps} steps at most`);
  return steps;
}

function malformed(text: string, at: number): JsonPathError {
  return new JsonPathError(`'${text}' is not a path: character ${at + 1} is not expected`);
}

/** Called with each container that the last step leads into, and the key in it, whether or not something is there. */
type Visit = (container: JsonObject | JsonArray, key: string | number) => boolean;

class CompiledPath implements JsonPath {
  readonly text: string;
  readonly many: boolean;
  readonly #steps: readonly Step[];

  constructor(text: string, steps: readonly Step[]) {
    this.text = text;
    this.many = steps.includes(every);
    this.#steps = steps;
  }

  values(root: JsonValue): JsonValue[] {
    const found: JsonValue[] = [];
    this.#each(root, (container, key) => {
      const value = memberOf(container, key);
      if (value !== undefined) found.push(value);
      return value !== undefined;
    });
    return found;
  }

  update(root: JsonValue, change: (value: JsonValue) => JsonValue): number {
    return this.#each(root, (container, key) => {
      const value = memberOf(container, key);
      if (value === undefined) return false;
      put(container, key, change(value));
      return true;
    });
  }

  remove(root: JsonValue): number {
    const gone = new Map<JsonArray, Set<number>>();
    const count = this.#each(root, (container, key) => {
      if (memberOf(container, key) === undefined) return false;
      if (!Array.isArray(container)) delete container[key];
      else placesIn(gone, container).add(key as number);
      return true;
    });
    for (const [array, places] of gone) closeUp(array, places);
    return count;
  }

  rename(root: JsonValue, name: string): number {
    return this.#each(root, (container, key) => {
      if (Array.isArray(container) || typeof key === 'number' || key === name) return false;
      const value = memberOf(container, key);
      if (value === undefined) return false;
      delete container[key];
      setMember(container, name, value);
      return true;
    });
  }

  set(root: JsonValue, value: JsonValue, { create = false }: { readonly create?: boolean } = {}): number {
    const visit: Visit = (container, key) => {
      if (Array.isArray(container) && memberOf(container, key) === undefined) return false;
      put(container, key, value);
      return true;
    };
    return this.#walk(root, 0, create, visit);
  }

  change(root: JsonValue, change: (value: JsonValue | undefined) => JsonValue | undefined): number {
    return this.#walk(root, 0, true, (container, key) => {
      const value = memberOf(container, key);
      if (value === undefined && Array.isArray(container)) return false;
      const changed = change(value);
      if (changed !== undefined) put(container, key, changed);
      return changed !== undefined;
    });
  }

  #each(root: JsonValue, visit: Visit): number {
    return this.#walk(root, 0, false, visit);
  }

  #walk(value: JsonValue, at: number, create: boolean, visit: Visit): number {
    const step = this.#steps[at] as Step;
    const last = at === this.#steps.length - 1;
    if (!Array.isArray(value) && !isJsonObject(value)) return 0;
    if (step === every) return this.#walkEvery(value, at, create, visit);
    const key = keyIn(value, step);
    if (key === null) return 0;
    if (last) return visit(value, key) ? 1 : 0;
    let next = memberOf(value, key);
    if (next === undefined) {
      if (!create || Array.isArray(value) || typeof this.#steps[at + 1] !== 'string') return 0;
      next = {};
      put(value, key, next);
    }
    return this.#walk(next, at + 1, create, visit);
  }

  #walkEvery(value: JsonObject | JsonArray, at: number, create: boolean, visit: Visit): number {
    const last = at === this.#steps.length - 1;
    const keys: readonly (string | number)[] = Array.isArray(value)
      ? value.map((_, index) => index)
      : Object.keys(value);
    let count = 0;
    for (const key of keys) {
      if (last) count += visit(value, key) ? 1 : 0;
      else count += this.#walk(memberOf(value, key) as JsonValue, at + 1, create, visit);
    }
    return count;
  }
}

function placesIn(gone: Map<JsonArray, Set<number>>, array: JsonArray): Set<number> {
  const known = gone.get(array);
  if (known !== undefined) return known;
  const places = new Set<number>();
  gone.set(array, places);
  return places;
}

/** Takes the elements at these places out, in one pass however many they are. */
function closeUp(array: JsonArray, places: ReadonlySet<number>): void {
  let end = 0;
  for (let at = 0; at < array.length; at++) if (!places.has(at)) array[end++] = array[at] as JsonValue;
  array.length = end;
}

/** Null: the step does not lead into this kind of value. */
function keyIn(value: JsonObject | JsonArray, step: string | number): string | number | null {
  if (!Array.isArray(value)) return typeof step === 'string' ? step : null;
  if (typeof step !== 'number') return null;
  return step < 0 ? value.length + step : step;
}

function memberOf(container: JsonObject | JsonArray, key: string | number): JsonValue | undefined {
  return Object.hasOwn(container, key) ? (container as JsonObject)[key] : undefined;
}

function put(container: JsonObject | JsonArray, key: string | number, value: JsonValue): void {
  if (Array.isArray(container)) container[key as number] = value;
  else setMember(container, key as string, value);
}
