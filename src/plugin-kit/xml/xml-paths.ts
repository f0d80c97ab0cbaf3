/** A path to elements or attributes that cannot be read; the message says why. */
export class XmlPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'XmlPathError';
  }
}

interface Step {
  /** `*` for any name; attributes begin with `@`. */
  readonly name: string;
  /** Any number of levels may come before it. */
  readonly deep: boolean;
}

interface Pattern {
  readonly steps: readonly Step[];
  readonly flag: number;
}

const maxSteps = 64;
const shape = /^(?:\/{0,2})(?:[^/@\s]+\/{1,2})*(?:[^/@\s]+|@[^/@\s]+)$/;

/**
 * Reads a path as in XPath: `/catalog/item` from the root, `item` or `catalog/item` anywhere, `//` for levels in between, `*`
 * for any name, `@id` at the end for an attribute. Throws an `XmlPathError`.
 */
export function checkXmlPath(path: string): void {
  stepsOf(path);
}

function stepsOf(path: string): readonly Step[] {
  if (!shape.test(path)) throw new XmlPathError(`'${path}' is not a path to elements or attributes`);
  const anchored = /^\/(?!\/)/.test(path);
  const steps: Step[] = [];
  let deep = !anchored;
  for (const part of path.replace(/^\/{1,2}/, '').split('/')) {
    if (part === '') deep = true;
    else {
      steps.push({ name: part, deep });
      deep = false;
    }
  }
  if (steps.length > maxSteps) throw new XmlPathError(`a path has ${maxSteps} steps at most`);
  return steps;
}

/** State of a walk down a tree, with respect to a set of paths. */
export interface PathState {
  /** The flags of all paths that lead to this element or attribute. */
  readonly flags: number;
  /** To an element in this one, or to an attribute (`@name`) of it. */
  next(name: string): PathState;
}

/** The state above the root; null when there is no path at all. Throws an `XmlPathError`. */
export function pathStates(paths: readonly (readonly [path: string, flag: number])[]): PathState | null {
  if (paths.length === 0) return null;
  return new PathSet(paths.map(([path, flag]) => ({ steps: stepsOf(path), flag }))).start();
}

const maxStates = 1000;

/** All paths as one automaton, whose states are created on demand. */
class PathSet {
  readonly patterns: readonly Pattern[];
  /** Names that occur in the paths. */
  readonly names: ReadonlySet<string>;
  readonly #states = new Map<string, State>();

  constructor(patterns: readonly Pattern[]) {
    this.patterns = patterns;
    this.names = new Set(patterns.flatMap(({ steps }) => steps.map(({ name }) => name)));
  }

  start(): State {
    return this.state(this.patterns.map((_, index) => [index, 0] as const));
  }

  state(places: readonly (readonly [pattern: number, steps: number])[]): State {
    const key = places.join(' ');
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state = new State(this, places);
    if (this.#states.size < maxStates) this.#states.set(key, state);
    return state;
  }
}

class State implements PathState {
  readonly flags: number;
  readonly #set: PathSet;
  /** For each path that may still match: the number of matched steps. */
  readonly #places: readonly (readonly [pattern: number, steps: number])[];
  readonly #next = new Map<string, State>();

  constructor(set: PathSet, places: readonly (readonly [pattern: number, steps: number])[]) {
    this.#set = set;
    this.#places = places;
    let flags = 0;
    for (const [pattern, made] of places) {
      const { steps, flag } = set.patterns[pattern] as Pattern;
      if (made === steps.length) flags |= flag;
    }
    this.flags = flags;
  }

  next(name: string): State {
    // All names that occur in no path lead to the same state.
    const attribute = name.startsWith('@');
    const key = this.#set.names.has(name) ? name : attribute ? '@' : '/';
    const known = this.#next.get(key);
    if (known !== undefined) return known;
    const state = this.#set.state(this.#placesAfter(name, attribute));
    this.#next.set(key, state);
    return state;
  }

  #placesAfter(name: string, attribute: boolean): (readonly [number, number])[] {
    const any = attribute ? '@*' : '*';
    const places: (readonly [number, number])[] = [];
    const seen = new Set<string>();
    const add = (pattern: number, made: number) => {
      const key = `${pattern},${made}`;
      if (!seen.has(key)) places.push([pattern, made]);
      seen.add(key);
    };
    for (const [pattern, made] of this.#places) {
      const step = this.#set.patterns[pattern]?.steps[made];
      if (step === undefined) continue;
      if (step.name === name || step.name === any) add(pattern, made + 1);
      if (step.deep && !attribute) add(pattern, made);
    }
    return places;
  }
}
