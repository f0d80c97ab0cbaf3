import assert from 'node:assert/strict';
import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { Migrations } from '../open-migrations.ts';
import type { Migration } from '../sql/migrations/migration.ts';
import {
  type Change,
  type FeedPosition,
  type InsertOptions,
  type Store,
  StoreError,
  type StoreErrorDetail,
} from '../store.ts';

/** Opens stores for one test, which are closed after it. */
export interface StoreBench {
  /** A migrated store in its own place. */
  fresh(): Promise<Store>;
  newPlace(): Promise<string>;
  /** Runs statements on the database of a place, not through the store, in one transaction. */
  execute(place: string, statements: readonly string[]): Promise<void>;
  /** Copies tables of a store aside. */
  backUp(place: string, tables: readonly string[]): Promise<Backup>;
  open(place: string, definitions?: readonly EntityDefinition[], options?: BenchOptions): Promise<Store>;
  /** The layout of the store in a place. */
  migrations(place: string, definitions?: readonly EntityDefinition[], options?: BenchOptions): Promise<Migrations>;
}

export interface Backup {
  /** Puts the rows back in one transaction. */
  restore(): Promise<void>;
}

export interface BenchOptions {
  readonly keptChanges?: number;
  /** Migrations after those of the first release. */
  readonly later?: readonly Migration[];
}

/** Asserts that a promise is rejected with a store error of exactly this detail. */
export async function assertStoreError(promise: Promise<unknown>, detail: StoreErrorDetail): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof StoreError, `not a StoreError: ${String(error)}`);
    assert.deepEqual(error.detail, detail);
    return true;
  });
}

/** Inserts one row in a transaction of its own. */
export async function insertRow(store: Store, entity: string, row: Row, options?: InsertOptions): Promise<Row> {
  const { result } = await store.write((writer) => writer.insert(entity, row, options));
  return result;
}

export async function deleteRow(store: Store, entity: string, id: string): Promise<boolean> {
  const { result } = await store.write((writer) => writer.delete(entity, id));
  return result;
}

/** Asserts that the store has its history from there on. */
export async function changesAfter(store: Store, position: FeedPosition, limit = 100): Promise<readonly Change[]> {
  const batch = await store.changesSince(position, limit);
  assert.ok(typeof batch !== 'string', String(batch));
  return batch.changes;
}
