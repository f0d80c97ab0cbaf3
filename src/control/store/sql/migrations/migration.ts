import type { SqlBackend, SqlTransaction } from '../sql-backend.ts';

/**
 * One step of the store's layout, named `<number>-<what>` as its file, run once per store in the order of the numbers. A
 * step that has been released never changes. Tables of entities are not created here but from their definitions
 * (`schema/sync-entity-tables.ts`); a step is needed only for what a definition cannot express, such as moving or rewriting data.
 */
export interface Migration {
  readonly name: string;
  up(transaction: SqlTransaction, types: SqlBackend['types']): Promise<void>;
}
