import type { JsonValue } from '../../plugin-sdk/index.ts';
import { type JsonQuery, parseJsonQuery, type Selector } from './json-query.ts';

/** A path of which `made` segments lead to where the walk is. */
interface Place {
  readonly path: number;
  readonly made: number;
}

interface Condition {
  readonly selector: Exclude<Selector, { kind: 'name' | 'every' }>;
  readonly leadsTo: Place;
}

const mostStates = 1000;

/** Several lists of paths, walked together: each value is met once, however many paths there are. */
export interface JsonPaths {
  readonly start: JsonPathState;
  readonly filters: boolean;
  readonly costly: boolean;
}

/** Throws an `Error` for a path that cannot be used. `accepts` of the states tell the lists by their numbers. */
export function compileJsonPaths(lists: readonly (readonly string[])[]): JsonPaths {
  const queries: JsonQuery[] = [];
  const owners: number[] = [];
  for (const [list, paths] of lists.entries()) {
    for (const path of paths) {
      queries.push(parseJsonQuery(path));
      owners.push(list);
    }
  }
  const states = new States(queries, owners);
  return {
    start: states.of(queries.map((_, path) => ({ path, made: 0 }))),
    filters: queries.some(({ filters }) => filters),
    costly: queries.some(({ costly }) => costly),
  };
}

class States {
  readonly queries: readonly JsonQuery[];
  readonly owners: readonly number[];
  readonly #states = new Map<string, JsonPathState>();

  constructor(queries: readonly JsonQuery[], owners: readonly number[]) {
    this.queries = queries;
    this.owners = owners;
  }

  of(places: readonly Place[]): JsonPathState {
    const unique = new Map(places.map((place) => [`${place.path}.${place.made}`, place]));
    const key = [...unique.keys()].sort().join(' ');
    let state = this.#states.get(key);
    if (state === undefined) {
      state = new JsonPathState(this, [...unique.values()]);
      if (this.#states.size < mostStates) this.#states.set(key, state);
    }
    return state;
  }
}

/** Where a walk down a JSON value stands with regard to the paths. States are made when they are first met. */
export class JsonPathState {
  /** Numbers of the lists of which a path leads to this value, in order. */
  readonly accepts: readonly number[];
  /** No path leads any further. */
  readonly ends: boolean;
  /** Members that paths name. */
  readonly names: readonly string[];
  /** Paths may lead to any child, not only to members that are named. */
  readonly every: boolean;
  /** Paths may lead to some elements of arrays. */
  readonly elements: boolean;
  readonly #states: States;
  readonly #named = new Map<string, Place[]>();
  readonly #always: Place[] = [];
  readonly #conditions: Condition[] = [];
  readonly #next = new Map<string, JsonPathState>();
  /** The same by the names of members, where there are no conditions. */
  readonly #members = new Map<string, JsonPathState>();

  constructor(states: States, places: readonly Place[]) {
    this.#states = states;
    const accepts = new Set<number>();
    for (const { path, made } of places) {
      const segment = states.queries[path]?.segments[made];
      if (segment === undefined) {
        accepts.add(states.owners[path] as number);
        continue;
      }
      if (segment.deep) this.#always.push({ path, made });
      for (const selector of segment.selectors) this.#add(selector, { path, made: made + 1 });
    }
    this.accepts = [...accepts].sort((a, b) => a - b);
    this.names = [...this.#named.keys()];
    const filters = this.#conditions.some(({ selector }) => selector.kind === 'filter');
    this.every = this.#always.length > 0 || filters;
    this.elements = this.every || this.#conditions.length > 0;
    this.ends = this.names.length === 0 && !this.elements;
  }

  #add(selector: Selector, leadsTo: Place): void {
    if (selector.kind === 'every') this.#always.push(leadsTo);
    else if (selector.kind === 'name')
      this.#named.set(selector.name, [...(this.#named.get(selector.name) ?? []), leadsTo]);
    else this.#conditions.push({ selector, leadsTo });
  }

  /** To a member. `child` and `root` are what filters see. */
  member(name: string, child: JsonValue, root: JsonValue): JsonPathState {
    const known = this.#named.get(name);
    if (this.#conditions.length === 0) {
      if (known === undefined) return this.#next.get('') ?? this.#make('', none);
      return this.#members.get(name) ?? this.#makeMember(name, known);
    }
    const key = this.#conditionsOf(-1, 0, child, root) + (known === undefined ? '' : `.${name}`);
    return this.#next.get(key) ?? this.#make(key, known ?? none);
  }

  /** To an element of an array of this length. */
  element(index: number, length: number, child: JsonValue, root: JsonValue): JsonPathState {
    const key = this.#conditions.length === 0 ? '' : this.#conditionsOf(index, length, child, root);
    return this.#next.get(key) ?? this.#make(key, none);
  }

  /** Which of the conditions hold, by their numbers: `0,2`. An index of -1 stands for a member. */
  #conditionsOf(index: number, length: number, child: JsonValue, root: JsonValue): string {
    let text = '';
    for (const [at, { selector }] of this.#conditions.entries()) {
      if (holds(selector, index, length, child, root)) text += `${at},`;
    }
    return text;
  }

  #makeMember(name: string, named: readonly Place[]): JsonPathState {
    const state = this.#states.of([...this.#always, ...named]);
    this.#members.set(name, state);
    return state;
  }

  #make(key: string, named: readonly Place[]): JsonPathState {
    const conditions = /^[\d,]*/.exec(key)?.[0].split(',').slice(0, -1) ?? [];
    const places = [
      ...this.#always,
      ...named,
      ...conditions.map((at) => (this.#conditions[Number(at)] as Condition).leadsTo),
    ];
    const state = this.#states.of(places);
    if (this.#next.size < mostStates) this.#next.set(key, state);
    return state;
  }
}

const none: readonly Place[] = [];

function holds(
  selector: Condition['selector'],
  index: number,
  length: number,
  child: JsonValue,
  root: JsonValue,
): boolean {
  if (selector.kind === 'filter') return selector.holds(child, root);
  if (index < 0) return false;
  if (selector.kind === 'index') return (selector.index < 0 ? length + selector.index : selector.index) === index;
  return inSlice(selector, index, length);
}

/** RFC 9535 2.3.4.2. */
function inSlice({ start, end, step }: Extract<Selector, { kind: 'slice' }>, index: number, length: number): boolean {
  if (step === 0) return false;
  const normal = (at: number) => (at >= 0 ? at : length + at);
  const bounded = (at: number, low: number, high: number) => Math.min(Math.max(at, low), high);
  if (step > 0) {
    const lower = bounded(normal(start ?? 0), 0, length);
    const upper = bounded(normal(end ?? length), 0, length);
    return index >= lower && index < upper && (index - lower) % step === 0;
  }
  const upper = bounded(normal(start ?? length - 1), -1, length - 1);
  const lower = end === null ? -1 : bounded(normal(end), -1, length - 1);
  return index > lower && index <= upper && (upper - index) % -step === 0;
}
