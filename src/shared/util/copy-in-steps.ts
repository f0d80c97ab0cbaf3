/** Entries that are copied in one step: a fraction of a millisecond. */
const entriesPerStep = 256;

/** Adds the entries of one map to another, in steps. The first must not change meanwhile. */
export function* copyMap<K, V>(
  from: ReadonlyMap<K, V>,
  to: Map<K, V>,
  copyValue: (value: V) => V = (value) => value,
): Generator<void> {
  let left = entriesPerStep;
  for (const [key, value] of from) {
    to.set(key, copyValue(value));
    if (--left > 0) continue;
    left = entriesPerStep;
    yield;
  }
}
