import type { LeftOut } from '../convert/left-out.ts';
import type { Difference } from '../differences/differences-of.ts';
import type { KongEntity } from '../kong-entity.ts';

/** What an import did, for people and (`--json`) for programs. */
export interface ImportReport {
  /** `Kong 3.9.1 at http://kong:8001`. */
  readonly source: string;
  /** Number of entities by schema name. */
  readonly carriedOver: Readonly<Record<string, number>>;
  /** Where they were written; null: nothing was written. */
  readonly written: WrittenTo | null;
  readonly differences: readonly Difference[];
  readonly leftOut: readonly LeftOut[];
}

export interface WrittenTo {
  /** A file, or the URL of an Admin API. */
  readonly to: string;
  /** What changed in the gateway; null for a file. */
  readonly changes: ChangeCounts | null;
}

export interface ChangeCounts {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
}

export function countsOf(entities: readonly KongEntity[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(entities, ({ collection }) => collection);
  return Object.fromEntries([...groups].map(([name, list]) => [name, list.length]));
}

/** What keeps the import from going on: the user has not accepted it. */
export function unaccepted({ leftOut }: Pick<ImportReport, 'leftOut'>): readonly LeftOut[] {
  return leftOut.filter(({ accepted }) => !accepted);
}
