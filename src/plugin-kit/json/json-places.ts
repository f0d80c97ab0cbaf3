import { type JsonArray, type JsonObject, type JsonValue, setMember } from './json.ts';

/** A member or an element: the container and the key in it. */
export interface Place {
  readonly container: JsonObject | JsonArray;
  readonly key: string | number;
}

/** The selected elements of the array. */
export function placesIn(gone: Map<JsonArray, Set<number>>, array: JsonArray): Set<number> {
  const known = gone.get(array);
  if (known !== undefined) return known;
  const places = new Set<number>();
  gone.set(array, places);
  return places;
}

/** Removes the elements at these indexes, in one pass. */
export function closeUp(array: JsonArray, places: ReadonlySet<number>): void {
  let end = 0;
  for (let at = 0; at < array.length; at++) if (!places.has(at)) array[end++] = array[at] as JsonValue;
  array.length = end;
}

export function memberOf(container: JsonObject | JsonArray, key: string | number): JsonValue | undefined {
  return Object.hasOwn(container, key) ? (container as JsonObject)[key] : undefined;
}

export function put(container: JsonObject | JsonArray, key: string | number, value: JsonValue): void {
  if (Array.isArray(container)) container[key as number] = value;
  else setMember(container, key as string, value);
}
