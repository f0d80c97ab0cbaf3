import type { EntityRow } from '../../plugin-sdk/index.ts';

const namesOf = new WeakMap<readonly EntityRow[], readonly string[]>();
const headers = new WeakMap<readonly string[], string>();

/** The groups of these rows. The same list for the same rows. */
export function groupNames(rows: readonly EntityRow[]): readonly string[] {
  let names = namesOf.get(rows);
  if (names === undefined) {
    names = rows.map((row) => row['group']).filter((group) => typeof group === 'string');
    namesOf.set(rows, names);
  }
  return names;
}

const control = /[\0-\x1f\x7f]/;

/** The value of the header with the groups for the backend. Names that are not valid in a header are omitted. */
export function groupsHeader(groups: readonly string[]): string {
  let value = headers.get(groups);
  if (value === undefined) {
    value = groups.filter((group) => !control.test(group)).join(', ');
    headers.set(groups, value);
  }
  return value;
}
