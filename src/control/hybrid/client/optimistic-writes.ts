import { setTimeout as pause } from 'node:timers/promises';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import { createSerialQueue } from '../../../shared/util/time/serial-queue.ts';
import type { StoreWriter } from '../../store/store.ts';
import { commitResult, type ReadResult } from '../protocol/store-calls.ts';
import { unavailable } from '../protocol/wire-errors.ts';
import { recordTransaction } from './recording-writer.ts';

/** Attempts of one write. Each fails only when another write has committed what it has read. */
const maxAttempts = 30;
/** Milliseconds of the longest pause after the first conflict; it grows with each. */
const pauseStep = 5;
const longestPause = 100;

export interface OptimisticWritesOptions {
  readonly entities: EntityRegistry;
  /** Calls the control plane. */
  readonly call: (method: string, args: unknown) => Promise<unknown>;
  readonly clockOffset: () => number;
  /** Version of the received config. */
  readonly version: () => number;
}

/**
 * Transactions without a lock on the control plane: the work runs here, and its writes are sent together with what it has read. When
 * that is no longer so, nothing is written and the work runs again.
 */
export class OptimisticWrites {
  readonly #options: OptimisticWritesOptions;
  /** After a conflict: writes of this node wait for each other instead of failing together. */
  readonly #inTurn = createSerialQueue();
  #lastNow = 0;
  #lastVersion = -1;

  constructor(options: OptimisticWritesOptions) {
    this.#options = options;
  }

  async write<T>(work: (writer: StoreWriter) => Promise<T>): Promise<{ readonly result: T; readonly version: number }> {
    return (await this.#attempt(work)) ?? (await this.#inTurn(() => this.#repeat(work)));
  }

  async #repeat<T>(work: (writer: StoreWriter) => Promise<T>) {
    for (let attempt = 1; attempt < maxAttempts; attempt++) {
      const done = await this.#attempt(work);
      if (done !== null) return done;
      await pause(Math.random() * Math.min(pauseStep * attempt, longestPause));
    }
    throw unavailable('other nodes have changed the same rows too often');
  }

  /** Null: another write came in between. */
  async #attempt<T>(work: (writer: StoreWriter) => Promise<T>) {
    const { entities, call, clockOffset, version } = this.#options;
    this.#lastNow = Math.max(this.#lastNow + 1, Date.now() + clockOffset());
    const transaction = recordTransaction({
      entities,
      now: this.#lastNow,
      read: async (read) => (await call('read', { read })) as ReadResult,
    });
    let result: T;
    try {
      result = await work(transaction.writer);
    } catch (error) {
      await transaction.finish().catch(() => undefined);
      throw error;
    }
    const commit = await transaction.finish();
    if (commit.writes.length === 0) return { result, version: Math.max(version(), this.#lastVersion) };
    const outcome = commitResult(await call('commit', commit), 'the answer');
    if (outcome.kind === 'conflict') return null;
    transaction.settle(outcome.rows);
    this.#lastVersion = Math.max(this.#lastVersion, outcome.version);
    return { result, version: outcome.version };
  }
}
