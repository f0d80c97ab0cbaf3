import { isJsonObject, type JsonArray, type JsonObject, type JsonValue, setMember } from './json.ts';
import type { JsonPath } from './json-path-types.ts';
import { closeUp, memberOf, placesIn, put } from './json-places.ts';
import type { Segment } from './json-query.ts';

const every = Symbol('every element');
/** A name, an index or every child. */
export type Step = string | number | typeof every;

/** The steps of a path that has one name, index or wildcard in each segment and no descent; null for any other. */
export function stepsOf(segments: readonly Segment[]): readonly Step[] | null {
  const steps: Step[] = [];
  for (const { deep, selectors } of segments) {
    const [selector] = selectors;
    if (deep || selectors.length !== 1 || selector === undefined) return null;
    if (selector.kind === 'name') steps.push(selector.name);
    else if (selector.kind === 'index') steps.push(selector.index);
    else if (selector.kind === 'every') steps.push(every);
    else return null;
  }
  return steps;
}

/** Called with each container that the last step leads into, and the key in it, whether or not a value exists. */
type Visit = (container: JsonObject | JsonArray, key: string | number) => boolean;

/** Follows names, indexes and wildcards, which most paths consist of, without a list of locations. */
export class StepsPath implements JsonPath {
  readonly text: string;
  readonly many: boolean;
  readonly names: readonly string[] | null;
  readonly #steps: readonly Step[];

  constructor(text: string, steps: readonly Step[]) {
    this.text = text;
    this.many = steps.includes(every);
    this.names = steps.every((step) => typeof step === 'string') ? steps : null;
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

/** Null: the step does not lead into this kind of value. */
function keyIn(value: JsonObject | JsonArray, step: string | number): string | number | null {
  if (!Array.isArray(value)) return typeof step === 'string' ? step : null;
  if (typeof step !== 'number') return null;
  return step < 0 ? value.length + step : step;
}
