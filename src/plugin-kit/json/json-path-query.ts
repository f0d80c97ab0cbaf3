import { isJsonObject, type JsonArray, type JsonObject, type JsonValue, setMember } from './json.ts';
import type { JsonPath } from './json-path-types.ts';
import { closeUp, memberOf, type Place, placesIn, put } from './json-places.ts';
import type { JsonQuery, Segment, Selector } from './json-query.ts';
import { type SeenDocument, seenByFilters } from './json-seen.ts';
import { sliceOf } from './json-slice.ts';

/** What to create, or to count as a location, where no value exists. */
type Missing = 'no' | 'last' | 'all';

/** Follows any path, with a list of the locations after each segment. */
export class QueryPath implements JsonPath {
  readonly text: string;
  readonly many: boolean = true;
  readonly names: readonly string[] | null = null;
  readonly #query: JsonQuery;

  constructor(text: string, query: JsonQuery) {
    this.text = text;
    this.#query = query;
  }

  values(root: JsonValue): JsonValue[] {
    return selectPlaces(root, this.#query).map(({ container, key }) => memberOf(container, key) as JsonValue);
  }

  update(root: JsonValue, change: (value: JsonValue) => JsonValue): number {
    return this.#each(root, 'no', ({ container, key }) => {
      put(container, key, change(memberOf(container, key) as JsonValue));
      return true;
    });
  }

  remove(root: JsonValue): number {
    const gone = new Map<JsonArray, Set<number>>();
    const count = this.#each(root, 'no', ({ container, key }) => {
      if (!Array.isArray(container)) delete container[key];
      else placesIn(gone, container).add(key as number);
      return true;
    });
    for (const [array, places] of gone) closeUp(array, places);
    return count;
  }

  rename(root: JsonValue, name: string): number {
    return this.#each(root, 'no', ({ container, key }) => {
      if (Array.isArray(container) || key === name) return false;
      const value = memberOf(container, key) as JsonValue;
      delete container[key];
      setMember(container, name, value);
      return true;
    });
  }

  set(root: JsonValue, value: JsonValue, { create = false }: { readonly create?: boolean } = {}): number {
    return this.#each(root, create ? 'all' : 'last', ({ container, key }) => {
      put(container, key, value);
      return true;
    });
  }

  change(root: JsonValue, change: (value: JsonValue | undefined) => JsonValue | undefined): number {
    return this.#each(root, 'all', ({ container, key }) => {
      const changed = change(memberOf(container, key));
      if (changed !== undefined) put(container, key, changed);
      return changed !== undefined;
    });
  }

  /** Each location once, even if the path selects it twice. All are found before the first is changed. */
  #each(root: JsonValue, missing: Missing, visit: (place: Place) => boolean): number {
    const places = selectPlaces(root, this.#query, missing);
    const done = new Map<object, Set<string | number>>();
    let count = 0;
    for (const place of places) {
      const keys = done.get(place.container) ?? new Set();
      if (keys.has(place.key)) continue;
      done.set(place.container, keys.add(place.key));
      if (visit(place)) count++;
    }
    return count;
  }
}

/**
 * The places of a query, in the order of RFC 9535, those that it selects twice twice; but a second `..` begins at each place once. So
 * their number is linear in the size of the value. A query without segments has the one place `[root]`.
 */
export function selectPlaces(root: JsonValue, { segments, filters }: JsonQuery, missing: Missing = 'no'): Place[] {
  const document = filters ? seenByFilters(root) : null;
  let places: Place[] = [{ container: [root], key: 0 }];
  let nested = false;
  for (const [at, segment] of segments.entries()) {
    const found: Place[] = [];
    const selection = { segment, document, missing: missingIn(segments, at, missing), found };
    const visited = segment.deep && nested ? new Set<object>() : null;
    for (const { container, key } of places) {
      const value = memberOf(container, key);
      if (!isContainer(value)) continue;
      if (segment.deep) selectBelow(value, selection, visited);
      else select(value, selection);
    }
    places = found;
    nested ||= segment.deep;
  }
  return places;
}

interface Selection {
  readonly segment: Segment;
  readonly document: SeenDocument | null;
  /** What the name of a missing member selects: nothing, a location, or a new object. */
  readonly missing: 'nothing' | 'place' | 'object';
  readonly found: Place[];
}

function missingIn(segments: readonly Segment[], at: number, missing: Missing): Selection['missing'] {
  if (missing === 'no' || (segments[at] as Segment).deep) return 'nothing';
  const next = segments[at + 1];
  if (next === undefined) return 'place';
  const named = !next.deep && next.selectors.every(({ kind }) => kind === 'name');
  return missing === 'all' && named ? 'object' : 'nothing';
}

/** From the value and all its descendants, parents first. Without recursion, for deep nesting. */
function selectBelow(value: JsonObject | JsonArray, selection: Selection, visited: Set<object> | null): void {
  const waiting: (JsonObject | JsonArray)[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (visited?.has(next)) continue;
    visited?.add(next);
    select(next, selection);
    const children = Array.isArray(next) ? next : Object.values(next);
    for (let at = children.length - 1; at >= 0; at--) {
      const child = children[at];
      if (isContainer(child)) waiting.push(child);
    }
  }
}

function select(value: JsonObject | JsonArray, selection: Selection): void {
  for (const selector of selection.segment.selectors) {
    if (selector.kind === 'name') selectName(value, selector.name, selection);
    else if (selector.kind === 'every')
      for (const key of keysOf(value)) selection.found.push({ container: value, key });
    else if (selector.kind === 'filter') selectByFilter(value, selector, selection);
    else if (Array.isArray(value)) selectElements(value, selector, selection);
  }
}

function selectName(value: JsonObject | JsonArray, name: string, { missing, found }: Selection): void {
  if (Array.isArray(value)) return;
  if (!Object.hasOwn(value, name)) {
    if (missing === 'nothing') return;
    if (missing === 'object') setMember(value, name, {});
  }
  found.push({ container: value, key: name });
}

function selectByFilter(
  value: JsonObject | JsonArray,
  { holds }: Extract<Selector, { kind: 'filter' }>,
  { document, found }: Selection,
): void {
  const { root, of } = document as SeenDocument;
  for (const key of keysOf(value)) {
    if (holds(of(memberOf(value, key) as JsonValue), root)) found.push({ container: value, key });
  }
}

function selectElements(
  array: JsonArray,
  selector: Extract<Selector, { kind: 'index' | 'slice' }>,
  { found }: Selection,
): void {
  if (selector.kind === 'index') {
    const key = selector.index < 0 ? array.length + selector.index : selector.index;
    if (key >= 0 && key < array.length) found.push({ container: array, key });
    return;
  }
  const { lower, upper, step } = sliceOf(selector, array.length);
  if (step > 0) for (let key = lower; key < upper; key += step) found.push({ container: array, key });
  else if (step < 0) for (let key = upper; key > lower; key += step) found.push({ container: array, key });
}

function keysOf(value: JsonObject | JsonArray): readonly (string | number)[] {
  return Array.isArray(value) ? value.map((_, at) => at) : Object.keys(value);
}

function isContainer(value: JsonValue | undefined): value is JsonObject | JsonArray {
  return Array.isArray(value) || isJsonObject(value);
}
