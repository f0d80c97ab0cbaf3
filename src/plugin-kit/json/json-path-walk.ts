import type { JsonValue } from './json.ts';
import { type JsonQuery, parseJsonQuery, type Selector } from './json-query.ts';
import { inSlice } from './json-slice.ts';

/** A path whose first `matched` segments lead to the current value. */
interface Position {
  readonly path: number;
  readonly matched: number;
}

interface Condition {
  readonly selector: Exclude<Selector, { kind: 'name' | 'every' }>;
  readonly leadsTo: Position;
}

const maxStates = 1000;

/** Several lists of paths that are matched together: each value is visited once, for any number of paths. */
export interface JsonPaths {
  readonly start: JsonPathState;
  readonly filters: boolean;
  readonly costly: boolean;
  /** Only names, wildcards and descents: states depend neither on values nor on the length of arrays. */
  readonly plain: boolean;
}

/** Throws an `Error` for an unsupported path. `accepts` of the states contains indexes of `lists`. */
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
    start: states.of(queries.map((_, path) => ({ path, matched: 0 }))),
    filters: queries.some(({ filters }) => filters),
    costly: queries.some(({ costly }) => costly),
    plain: queries.every(({ segments }) =>
      segments.every(({ selectors }) => selectors.every(({ kind }) => kind === 'name' || kind === 'every')),
    ),
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

  of(positions: readonly Position[]): JsonPathState {
    const unique = new Map(positions.map((position) => [`${position.path}.${position.matched}`, position]));
    const key = [...unique.keys()].sort().join(' ');
    let state = this.#states.get(key);
    if (state === undefined) {
      state = new JsonPathState(this, [...unique.values()]);
      if (this.#states.size < maxStates) this.#states.set(key, state);
    }
    return state;
  }
}

/** State of the paths at a JSON value. States are created when they are first needed. */
export class JsonPathState {
  /** Sorted indexes of the lists with a path to this value. */
  readonly accepts: readonly number[];
  /** No path leads further. */
  readonly ends: boolean;
  /** Members that paths name. */
  readonly names: readonly string[];
  /** Paths may lead to any child, not only to named members. */
  readonly every: boolean;
  /** Paths may lead to some elements of arrays. */
  readonly elements: boolean;
  readonly #states: States;
  readonly #named = new Map<string, Position[]>();
  readonly #always: Position[] = [];
  readonly #conditions: Condition[] = [];
  readonly #next = new Map<string, JsonPathState>();
  /** Next states by the names of members, if there are no conditions. */
  readonly #members = new Map<string, JsonPathState>();

  constructor(states: States, positions: readonly Position[]) {
    this.#states = states;
    const accepts = new Set<number>();
    for (const { path, matched } of positions) {
      const segment = states.queries[path]?.segments[matched];
      if (segment === undefined) {
        accepts.add(states.owners[path] as number);
        continue;
      }
      if (segment.deep) this.#always.push({ path, matched });
      for (const selector of segment.selectors) this.#add(selector, { path, matched: matched + 1 });
    }
    this.accepts = [...accepts].sort((a, b) => a - b);
    this.names = [...this.#named.keys()];
    const filters = this.#conditions.some(({ selector }) => selector.kind === 'filter');
    this.every = this.#always.length > 0 || filters;
    this.elements = this.every || this.#conditions.length > 0;
    this.ends = this.names.length === 0 && !this.elements;
  }

  #add(selector: Selector, leadsTo: Position): void {
    if (selector.kind === 'every') this.#always.push(leadsTo);
    else if (selector.kind === 'name')
      this.#named.set(selector.name, [...(this.#named.get(selector.name) ?? []), leadsTo]);
    else this.#conditions.push({ selector, leadsTo });
  }

  /** The state at a member. Filters see `child` and `root`. */
  member(name: string, child: JsonValue, root: JsonValue): JsonPathState {
    const known = this.#named.get(name);
    if (this.#conditions.length === 0) {
      if (known === undefined) return this.#next.get('') ?? this.#create('', noPositions);
      return this.#members.get(name) ?? this.#createMember(name, known);
    }
    const key = this.#conditionsOf(-1, 0, child, root) + (known === undefined ? '' : `.${name}`);
    return this.#next.get(key) ?? this.#create(key, known ?? noPositions);
  }

  /** The state at an element of an array of this length. */
  element(index: number, length: number, child: JsonValue, root: JsonValue): JsonPathState {
    const key = this.#conditions.length === 0 ? '' : this.#conditionsOf(index, length, child, root);
    return this.#next.get(key) ?? this.#create(key, noPositions);
  }

  /** The indexes of the conditions that hold: `0,2`. An index of -1 means a member. */
  #conditionsOf(index: number, length: number, child: JsonValue, root: JsonValue): string {
    let text = '';
    for (const [at, { selector }] of this.#conditions.entries()) {
      if (holds(selector, index, length, child, root)) text += `${at},`;
    }
    return text;
  }

  #createMember(name: string, named: readonly Position[]): JsonPathState {
    const state = this.#states.of([...this.#always, ...named]);
    this.#members.set(name, state);
    return state;
  }

  #create(key: string, named: readonly Position[]): JsonPathState {
    const conditions = /^[\d,]*/.exec(key)?.[0].split(',').slice(0, -1) ?? [];
    const positions = [
      ...this.#always,
      ...named,
      ...conditions.map((at) => (this.#conditions[Number(at)] as Condition).leadsTo),
    ];
    const state = this.#states.of(positions);
    if (this.#next.size < maxStates) this.#next.set(key, state);
    return state;
  }
}

const noPositions: readonly Position[] = [];

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
