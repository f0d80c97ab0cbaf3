/**
 * A record with these keys, all null, to be copied and filled: `{ ...empty }`. The copies share one layout; an object that gets more
 * than a dozen computed keys one by one becomes a hash table, which is slower to make, to read and to copy.
 */
export function emptyRecord(names: Iterable<string>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(Object.fromEntries([...names].map((name) => [name, null]))));
}
