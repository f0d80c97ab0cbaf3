/** The fields that have a value. */
export function withoutNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

const known = new WeakMap<object, Readonly<Record<string, unknown>>>();

/** The same of a row, which never changes: made once, and frozen. */
export function rowWithoutNulls(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let made = known.get(row);
  if (made === undefined) {
    made = Object.freeze(withoutNulls(row));
    known.set(row, made);
  }
  return made;
}
