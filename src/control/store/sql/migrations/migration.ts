import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';

type Step = (transaction: SqlTransaction, types: SqlBackend['types']) => Promise<void>;

/**
 * One step of the store's layout, named `<number>-<what>` as its file, run once per store in the order of the numbers. A
 * step that has been released never changes. Tables of entities are not created here but from their definitions
 * (`schema/sync-entity-tables.ts`); a step is needed only for what a definition cannot express, such as moving or rewriting data.
 */
export interface Migration {
  readonly name: string;
  /** Only adds: nodes of the version before run on the same database, before and after it (docs/decisions/0022). */
  readonly up: Step;
  /** The rest, which nodes of the version before would not survive; they refuse the store afterwards. Default: nothing. */
  readonly finish?: Step;
}
