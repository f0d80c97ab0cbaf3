import type { JsonValue } from './json.ts';

/** One or more locations in a JSON value: `$.data.items[*].id`. */
export interface JsonPath {
  readonly text: string;
  /** There may be several locations: it has a wildcard, a slice, a filter, a descent or several selectors. */
  readonly many: boolean;
  /** The names that it consists of, if it has only names: `$.data.id`. Null for any other path. */
  readonly names: readonly string[] | null;
  /** The values at its locations, in order. */
  values(root: JsonValue): JsonValue[];
  /** Replaces the values. Returns the number of locations, as the other methods do. */
  update(root: JsonValue, change: (value: JsonValue) => JsonValue): number;
  /** Removes the values; later elements of arrays move up. */
  remove(root: JsonValue): number;
  /** Renames the last member of the path, within the same object. */
  rename(root: JsonValue, name: string): number;
  /**
   * Sets the values, whether they exist or not. `create`: creates missing parent objects, but never elements of arrays. Descents
   * (`..`) and filters select only existing values. Returns the number of values that were set.
   */
  set(root: JsonValue, value: JsonValue, options?: { readonly create?: boolean }): number;
  /**
   * Calls `change` with each value, undefined where it is missing; `change` returns the new value, or undefined to keep it. Missing
   * parent objects are created, but never elements of arrays. Descents and filters select only existing values. Returns the
   * number of values that were changed.
   */
  change(root: JsonValue, change: (value: JsonValue | undefined) => JsonValue | undefined): number;
}

/** A path that cannot be read or is refused; the message says why. */
export class JsonPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPathError';
  }
}
