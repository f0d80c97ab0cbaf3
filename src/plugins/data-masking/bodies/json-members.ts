import type { JsonPathState } from '../../../plugin-kit/json/index.ts';

/** The states at the members of an object, by the spelling of their names in JSON. */
export class JsonMembers {
  readonly #state: JsonPathState;
  /** As `JSON.stringify` spells them, without quotation marks, in UTF-8. */
  readonly #names: readonly Uint8Array[];
  /** By the index of the name; undefined: not yet known. */
  readonly #states: (JsonPathState | null | undefined)[];
  /** At members that no path names. */
  #other: JsonPathState | null | undefined;

  /** `state`: one of paths whose `plain` is true. */
  constructor(state: JsonPathState) {
    this.#state = state;
    this.#names = state.names.map((name) => Buffer.from(JSON.stringify(name).slice(1, -1)));
    this.#states = state.names.map(() => undefined);
    if (!state.every) this.#other = null;
  }

  /** The state at the member whose name is spelled from `start` to `end`, as `JSON.stringify` does; null: no path leads there. */
  at(bytes: Uint8Array, start: number, end: number): JsonPathState | null {
    const names = this.#names;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as Uint8Array;
      if (name.length === end - start && isAt(bytes, start, name)) return this.#named(index);
    }
    if (this.#other === undefined) {
      // Longer than each of the names, so it is none of them.
      this.#other = alive(this.#state.member(`${this.#state.names.join('')}.`, null, null));
    }
    return this.#other;
  }

  #named(index: number): JsonPathState | null {
    let state = this.#states[index];
    if (state === undefined) {
      state = alive(this.#state.member(this.#state.names[index] as string, null, null));
      this.#states[index] = state;
    }
    return state;
  }
}

/** Null for a state that no path leaves or ends at. */
export function alive(state: JsonPathState): JsonPathState | null {
  return state.ends && state.accepts.length === 0 ? null : state;
}

function isAt(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let at = 0; at < name.length; at++) if (bytes[start + at] !== name[at]) return false;
  return true;
}
