import assert from 'node:assert/strict';
import type { EntityDefinition, Row } from '../../entities/entity.ts';
import { type InsertOptions, type Store, StoreError, type StoreErrorDetail } from '../store.ts';

/** Opens stores for one test, which are closed after it. */
export interface StoreBench {
  /** A migrated store in a place of its own. */
  fresh(): Promise<Store>;
  newPlace(): Promise<string>;
  open(place: string, definitions?: readonly EntityDefinition[], options?: BenchOptions): Promise<Store>;
}

export interface BenchOptions {
  readonly keptChanges?: number;
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
