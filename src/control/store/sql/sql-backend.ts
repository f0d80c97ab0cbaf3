import type { Kysely, Transaction } from 'kysely';
import type { FeedPosition } from '../store.ts';

export type ColumnValue = string | number | null;

/** A row as the database holds it: real columns, and everything else as JSON text in `body`. */
export type ColumnRow = Record<string, ColumnValue>;

/** Tables are derived from entity definitions at run time, so their names and columns are not known to the compiler. */
export type Tables = Record<string, ColumnRow>;

export type Database = Kysely<Tables>;
export type SqlTransaction = Transaction<Tables>;

/** Receives events that no caller waits for, such as a lost connection of the change feed. */
export interface StoreLog {
  info(message: string): void;
  warn(message: string): void;
}

/** What differs between the databases. Everything else of the store is written once, against this. */
export interface SqlBackend {
  readonly kind: 'sqlite' | 'postgres';
  /** Transactions that write. */
  readonly write: Database;
  /** Single statements outside of a transaction; they see every commit that has resolved. */
  readonly read: Database;
  /** Long consistent reads, and migrations: nothing short waits behind them, and their timeouts are longer. */
  readonly snapshot: Database;
  /** Counters of limits: commits do not wait for the disk, and writers of entities do not wait for them. */
  readonly counters: Database;
  /** Column types: text compared by bytes, and text holding JSON. `now`: the database's clock, in milliseconds since the epoch. */
  readonly types: { readonly text: string; readonly json: string; readonly now: string };
  /** First statement of a migration: waits until no other node migrates, and creates the schema of the tables. */
  beginMigration(transaction: SqlTransaction): Promise<void>;
  /** First statement of a writing transaction: waits for the other writers of all nodes, then reads the store's head. */
  lockHead(transaction: SqlTransaction): Promise<StoreHead>;
  /** Last statement of a writing transaction: notifies other nodes once it has committed. */
  notify(transaction: SqlTransaction, version: number): Promise<void>;
  /** Resolves when the database answers, before or after a migration. */
  ping(): Promise<void>;
  /** Calls `onCommit` when another node has committed, or the database was restored. Returns the function that stops it. */
  watch(onCommit: (seen: SeenCommit) => void): () => Promise<void>;
  close(): Promise<void>;
}

/** The one row of `store_version`. */
export interface StoreHead extends FeedPosition {
  /** The greatest transaction timestamp handed out so far. */
  readonly lastTimestamp: number;
}

/** A position of the store, or its version when a notification named no more. */
export type SeenCommit = FeedPosition | { readonly version: number; readonly stamp: null };
