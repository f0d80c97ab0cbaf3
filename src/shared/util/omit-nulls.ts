/** The fields that are not null. */
export function omitNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

const known = new WeakMap<object, Readonly<Record<string, unknown>>>();

/** The same for a row, which never changes: computed once, and frozen. */
export function cachedOmitNulls(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let result = known.get(row);
  if (result === undefined) {
    result = Object.freeze(omitNulls(row));
    known.set(row, result);
  }
  return result;
}
