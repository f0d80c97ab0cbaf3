import { setImmediate as nextTurn } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import type { StoreWriter } from '../store.ts';
import { appendChanges, moveTimestamp, versionBase } from './change-log.ts';
import { recordVersion } from './config-history.ts';
import { nextTimestamp } from './next-timestamp.ts';
import type { Commit, WrittenChange } from './recent-commit.ts';
import type { EntityTables } from './rows/entity-table.ts';
import type { SqlBackend, SqlTransaction, StoreHead } from './sql-backend.ts';
import { createWriter } from './sql-writer.ts';

export interface Written<T> {
  readonly result: T;
  readonly version: number;
}

export interface GroupCommitOptions {
  readonly backend: SqlBackend;
  readonly tables: EntityTables;
  readonly keptChanges: number;
  /** Greatest version that this process has seen. */
  readonly greatestSeen: () => number;
  /** Called after each commit that changed something, before its writes resolve. */
  readonly committed: (commit: Commit) => void;
  /** Called before each transaction and between its steps. */
  readonly giveWay: () => void;
}

/** Writes in one transaction. */
const maxGroup = 64;
/** Milliseconds after which a transaction accepts no more writes: other nodes wait for it. */
const maxGroupTime = 50;
/** Milliseconds of one transaction's work after which the thread yields to reads and other work. */
const maxTurn = 10;

interface Waiting {
  readonly work: (writer: StoreWriter) => Promise<unknown>;
  readonly resolve: (written: Written<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs writes one after another. Those that wait while another commits share the next transaction, so that they wait for the
 * disk once; each has a savepoint, so that a failed write is rolled back alone. A write resolves when the transaction
 * has committed.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: Waiting[] = [];
  #running = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  write<T>(work: (writer: StoreWriter) => Promise<T>): Promise<Written<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<Written<T>>();
    this.#waiting.push({ work, resolve: resolve as Waiting['resolve'], reject });
    if (!this.#running) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      // Requests that have arrived by now are read first: a commit of SQLite would be over before they could join it.
      await nextTurn();
      this.#options.giveWay();
      const group = this.#waiting.splice(0, maxGroup);
      try {
        const { left, settle } = await this.#commit(group);
        this.#waiting.unshift(...left);
        settle();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#running = false;
  }

  /** Rejects when the transaction fails as a whole. `left`: writes that were not started. */
  async #commit(
    group: readonly Waiting[],
  ): Promise<{ readonly left: readonly Waiting[]; readonly settle: () => void }> {
    const { backend, committed } = this.#options;
    const { outcomes, commit } = await backend.write
      .transaction()
      .execute((transaction) => this.#writeAll(transaction, group));
    if (commit !== null) committed(commit);
    return {
      left: group.slice(outcomes.length),
      settle: () => {
        for (const outcome of outcomes) outcome();
      },
    };
  }

  async #writeAll(
    transaction: SqlTransaction,
    group: readonly Waiting[],
  ): Promise<{ readonly outcomes: readonly (() => void)[]; readonly commit: Commit | null }> {
    const { backend, keptChanges, greatestSeen } = this.#options;
    const head = await backend.lockHead(transaction);
    const floor = greatestSeen();
    const unit = new TransactionUnit(this.#options, transaction, head, versionBase(head, floor));
    const outcomes: (() => void)[] = [];
    const end = performance.now() + maxGroupTime;
    for (const waiting of group) {
      outcomes.push(group.length === 1 ? await unit.write(waiting) : await unit.writeApart(waiting));
      if (performance.now() > end) break;
    }
    const { changes, timestamp, audited } = unit;
    if (changes.length === 0) {
      if (audited) await moveTimestamp(transaction, timestamp);
      return { outcomes, commit: null };
    }
    const breathe = (): Promise<void> => unit.breathe();
    const position = await appendChanges(transaction, head, changes, { timestamp, keep: keptChanges, floor, breathe });
    await backend.notify(transaction, position.version);
    const since = { store: head.store, version: head.version, stamp: head.stamp };
    return { outcomes, commit: { since, position, changes } };
  }
}

/** The writes of one transaction. */
class TransactionUnit {
  readonly changes: WrittenChange[] = [];
  timestamp: number;
  audited = false;
  readonly #tables: EntityTables;
  readonly #transaction: SqlTransaction;
  readonly #head: StoreHead;
  readonly #base: number;
  readonly #giveWay: () => void;
  #turnBegan = performance.now();

  constructor({ tables, giveWay }: GroupCommitOptions, transaction: SqlTransaction, head: StoreHead, base: number) {
    this.#tables = tables;
    this.#giveWay = giveWay;
    this.#transaction = transaction;
    this.#head = head;
    this.#base = base;
    this.timestamp = head.lastTimestamp;
  }

  /** Returns the function that resolves the write once the transaction has committed. Rejects with the write's error. */
  async write({ work, resolve }: Waiting): Promise<() => void> {
    const now = nextTimestamp(this.timestamp, Date.now());
    const writer = createWriter(this.#transaction, {
      tables: this.#tables,
      now,
      breathe: () => this.breathe(),
      earlier: [...this.changes],
    });
    try {
      const result = await work(writer);
      const pending = await writer.finish();
      this.timestamp = now;
      this.audited ||= writer.audited;
      for (const { entity, id, operation, after } of pending) {
        this.changes.push({ entity, id, operation, at: now, row: after });
      }
      const version = this.changes.length === 0 ? this.#head.version : this.#base + this.changes.length;
      if (pending.length > 0) {
        const recorded = { version, now, attribution: writer.attribution };
        await recordVersion(this.#transaction, this.#tables, pending, recorded, () => this.breathe());
      }
      return () => resolve({ result, version });
    } catch (error) {
      // Its operations in progress must not become part of another write.
      await writer.finish().catch(() => undefined);
      throw error;
    }
  }

  /** Like `write`, but an error of one write does not affect the rest of the transaction. */
  async writeApart(waiting: Waiting): Promise<() => void> {
    await this.#run('savepoint one_write');
    let settle: () => void;
    try {
      settle = await this.write(waiting);
    } catch (error) {
      // After some errors the database has ended the transaction, and with it the savepoint: then the whole group fails.
      await this.#run('rollback to savepoint one_write');
      settle = () => waiting.reject(error);
    }
    await this.#run('release savepoint one_write');
    return settle;
  }

  async #run(statement: string): Promise<void> {
    await this.#transaction.executeQuery(CompiledQuery.raw(statement));
  }

  /** With SQLite everything in between happens in one turn of the event loop, however many operations there are. */
  async breathe(): Promise<void> {
    this.#giveWay();
    if (performance.now() - this.#turnBegan < maxTurn) return;
    await nextTurn();
    this.#turnBegan = performance.now();
  }
}
