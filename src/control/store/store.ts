import type { Row } from '../../shared/entities/entity.ts';
import type { Lease, LeaseRequest } from '../../shared/limits/lease.ts';
import type { AuditRecord, AuditStore, RowChange } from './audit.ts';
import type { Attribution, HistoryStore, RowSince } from './history.ts';
import type { NodesStore } from './nodes.ts';
import type { Position } from './position.ts';
import type { UsageStore } from './usage-store.ts';

export interface ListQuery {
  /** Equality on unique or foreign columns; a foreign field is compared by id: `{ service: '<uuid>' }`. A list: any of them. */
  readonly where?: Readonly<Record<string, string | readonly string[] | null>>;
  /** Entities having all (`all: true`) or any of these tags. */
  readonly tags?: { readonly all: boolean; readonly names: readonly string[] };
  /** Ascending (oldest first) is the default. */
  readonly order?: 'asc' | 'desc';
  /** Only rows strictly after this position in the chosen order. */
  readonly after?: Position;
  /** Only rows whose `created_at` is strictly before this instant (milliseconds). */
  readonly createdBefore?: number;
  readonly skip?: number;
  readonly limit: number;
}

export type ChangeOperation = 'upsert' | 'delete';

/**
 * A position in the history of a store. A version alone does not identify one: after a backup was restored, the same versions are
 * assigned to other changes.
 */
export interface FeedPosition {
  /** Random id, created with the store and kept in its backups. */
  readonly store: string;
  readonly version: number;
  /** Random id of the transaction that led to this version. */
  readonly stamp: string;
}

/** Changes after a position, oldest first, and the position after the last of them. */
export interface ChangeBatch {
  readonly changes: readonly Change[];
  readonly position: FeedPosition;
}

/**
 * Why there are no changes after a position: they are no longer kept (`trimmed`), or the store never was in that position,
 * because it was restored from a backup or replaced (`rewritten`).
 */
export type HistoryGap = 'trimmed' | 'rewritten';

/** One line of the `changes` table. Versions ascend, with gaps after a restore. */
export interface Change {
  readonly version: number;
  readonly entity: string;
  readonly id: string;
  readonly operation: ChangeOperation;
  /** The row as it is now (for `upsert`); null when it was deleted since. */
  readonly row: Row | null;
}

export interface TagRow {
  readonly entityName: string;
  readonly entityId: string;
  readonly tag: string;
}

/** A complete, consistent snapshot of the given entities, as of a position. */
export interface Dump extends FeedPosition {
  readonly entities: Readonly<Record<string, readonly Row[]>>;
}

/** Reads, usable inside and outside of a transaction. */
export interface StoreReader {
  get(entity: string, id: string): Promise<Row | null>;
  /** By a unique field. */
  findBy(entity: string, field: string, value: string): Promise<Row | null>;
  list(entity: string, query: ListQuery): Promise<readonly Row[]>;
  count(entity: string): Promise<number>;
  /** True when there is a row whose `expires_at` has passed. Such rows are never returned; `deleteExpired` removes them. */
  hasExpired(): Promise<boolean>;
}

/**
 * Writes. Each throws a `StoreError` when a constraint is hit; the transaction is then rolled back as a whole, even
 * when the caller swallows the error. Each appends to the `changes` table in the same transaction, cascades included.
 * Constraints are checked in the order primary key, unique fields, fields unique together, foreign keys; within each
 * in the order of the definition.
 */
export interface StoreWriter extends StoreReader {
  /**
   * Timestamp of this transaction in milliseconds. Strictly greater than that of every earlier transaction of the store,
   * whichever node ran it and whatever its clock says, so that a row stamped with it sorts after every cursor that was
   * returned before.
   */
  readonly now: number;
  /** Returns the row as stored: `created_at` is `now` unless `keepCreatedAt`, `updated_at` (if the entity has one) is `now`. */
  insert(entity: string, row: Row, options?: InsertOptions): Promise<Row>;
  /** Replaces the whole row of that id; returns it as stored, `updated_at` being `now`. Throws `not-found` when there is no such row. */
  update(entity: string, row: Row, options?: UpdateOptions): Promise<Row>;
  /** Returns false when there was nothing to delete. Applies on-delete rules, cascades recorded as changes. */
  delete(entity: string, id: string): Promise<boolean>;
  /** Removes rows of all entities whose `expires_at` has passed, at most some thousands. Returns how many. */
  deleteExpired(): Promise<number>;
  /**
   * Many rows at once, far faster than one by one, in any order: rows may refer to each other and exchange unique values. The
   * constraints are the database's own, so a violation rejects with its error, not with a `StoreError`. The caller that deletes a row
   * names the rows of other entities that refer to it, too; a row that is not named is deleted by its on-delete rule, without its
   * `before`.
   */
  writeRows(writes: readonly RowWrite[]): Promise<void>;
  /**
   * Rows that were changed after a position, by committed transactions or by earlier writes in this one. A gap as with
   * `changesSince`, and for more than some thousands.
   */
  changedSince(position: FeedPosition): Promise<readonly RowId[] | HistoryGap>;
  /** What this transaction has changed so far, in order; cascaded rows come before the row that caused them. */
  readonly changes: readonly RowChange[];
  /** Who makes the version of the config that this write becomes, and how. Default: a write of the gateway itself. */
  attribute(to: Attribution): void;
  /** Every row of config that was changed after a version, earlier writes of this transaction excluded. */
  rowsSince(version: number): Promise<readonly RowSince[]>;
  /** Stores audit records: they are committed with the transaction or not at all. No line in `changes`. */
  audit(records: readonly AuditRecord[]): Promise<void>;
}

/** One row of `writeRows`. Without `before` it is inserted, without `after` deleted. */
export interface RowWrite {
  readonly entity: string;
  /** The row as it is stored. */
  readonly before: Row | null;
  /** Stored with its own `created_at`; `updated_at` (if the entity has one) is `now`. */
  readonly after: Row | null;
}

export interface RowId {
  readonly entity: string;
  readonly id: string;
}

export interface InsertOptions {
  /** Store the row's own `created_at`, because the client sent it. Default false. */
  readonly keepCreatedAt?: boolean;
}

export interface UpdateOptions {
  /** Set `created_at` to `now`, as for a PUT that replaces a row without one. Default false: as in the row. */
  readonly renewCreatedAt?: boolean;
}

/** What was taken under a key in the window that began at `windowStart` (milliseconds since the epoch). */
export interface CounterId {
  readonly key: string;
  readonly windowStart: number;
}

export interface StoredCounter extends CounterId {
  readonly used: number;
}

/**
 * Counters of limits that all nodes share. They are not entities: nothing here waits for `write`, appears in `changes`,
 * or waits for the disk. What was counted survives the end of a node; the last moments before a power cut, or a crash of the
 * database server, may be lost.
 */
export interface CounterStore {
  /** Grants what is left, in the order of the requests. One atomic step over all of them and all nodes. */
  leaseCounters(requests: readonly LeaseRequest[]): Promise<readonly Lease[]>;
  /** Counters with these keys, of whatever window, ordered by key and window. */
  readCounters(keys: readonly string[]): Promise<readonly StoredCounter[]>;
  /** Sets counters back to 0. */
  resetCounters(counters: readonly CounterId[]): Promise<void>;
  /** Removes expired counters, at most some thousands. Returns how many. */
  deleteExpiredCounters(): Promise<number>;
}

export interface MigrateOptions {
  /**
   * Whether nodes of the version before use the store: what they would not survive is left to `sluicegate migrations finish`, or to the
   * next `migrate` without them. Default: true with PostgreSQL.
   */
  readonly shared?: boolean;
}

export interface Store extends StoreReader, CounterStore, AuditStore, HistoryStore, UsageStore, NodesStore {
  /** `control_plane`: the store of a data plane. */
  readonly kind: 'sqlite' | 'postgres' | 'control_plane';
  /**
   * Creates or upgrades the tables; safe when several nodes do so at once, and while nodes of the version before run. Throws
   * `newer-store` on a store that requires a newer version.
   */
  migrate(options?: MigrateOptions): Promise<void>;
  /**
   * One transaction. `version` is the store's version after the commit (durable when the promise resolves). Writers of
   * all nodes are serialised from the start of `work`, so reading, deciding and writing in it is free of races; for the
   * same reason `work` must not wait for anything slow, nor call `write` itself.
   */
  write<T>(work: (writer: StoreWriter) => Promise<T>): Promise<{ readonly result: T; readonly version: number }>;
  listTags(query: { readonly tag?: string; readonly skip: number; readonly limit: number }): Promise<readonly TagRow[]>;
  /** Every row of these entities in one consistent read. */
  dump(entities: readonly string[]): Promise<Dump>;
  version(): Promise<number>;
  position(): Promise<FeedPosition>;
  /** Changes after `position`; after a gap only `dump` helps. */
  changesSince(position: FeedPosition, limit: number): Promise<ChangeBatch | HistoryGap>;
  /**
   * Calls back soon (within a second) after another node or this one has committed, or the database was restored, when that
   * is visible; occasionally without a reason. Returns the unsubscribe function.
   */
  subscribe(listener: () => void): () => void;
  /**
   * Raises a field that has a column of its own to this text, when it is null or lower. For what is noted about a row without changing
   * it, such as its last use: no line in `changes`, and no wait for other writers.
   */
  noteUse(entity: string, id: string, field: string, value: string): Promise<void>;
  /** Resolves when the database answers; rejects when it does not within its timeout. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export type StoreErrorDetail =
  /** `fields` are the row's values of the violated unique field or fields (foreign values as `{ id }` or null). */
  | { readonly kind: 'unique'; readonly entity: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: 'primary-key'; readonly entity: string; readonly id: string }
  /** The row refers to something that does not exist. */
  | {
      readonly kind: 'foreign-key';
      readonly entity: string;
      readonly field: string;
      readonly references: string;
      readonly id: string;
    }
  /** The row cannot be deleted because rows of `by` refer to it. */
  | { readonly kind: 'referenced'; readonly entity: string; readonly by: string }
  | { readonly kind: 'not-found'; readonly entity: string; readonly id: string }
  | { readonly kind: 'newer-store'; readonly found: string }
  /** The database does not answer; trying later may help. The error's message is one line that says why. */
  | { readonly kind: 'unavailable' }
  /** The database cannot be used as configured: wrong password, missing database, unwritable directory. One line says what. */
  | { readonly kind: 'refused' };

export class StoreError extends Error {
  readonly detail: StoreErrorDetail;
  constructor(detail: StoreErrorDetail, options?: { cause?: unknown; message?: string }) {
    super(
      options?.message ?? `store: ${detail.kind}`,
      options?.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'StoreError';
    this.detail = detail;
  }
}
