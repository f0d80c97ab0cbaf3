import { join } from 'node:path';
import type { Lease, LeaseRequest } from '../limits/limit-tools.ts';
import { CallHandler, readManyRows, readRows } from '../lookup/call-handler.ts';
import { RememberedRows } from '../lookup/remembered-rows.ts';
import type { ErrorLog } from '../observability/error-log.ts';
import type { Settings } from '../settings/settings.ts';
import { LastGoodWriter } from '../snapshot/last-good-writer.ts';
import type { Publisher } from '../snapshot/publisher.ts';
import type { NameAnswer } from '../upstream/worker-names.ts';
import type { SnapshotDelta } from '../workers/messages.ts';
import type { OpenedStore } from './open-store.ts';

/** Milliseconds between two writes of the rows that were asked for. */
const writeDelay = 10_000;

export interface WorkerCallsOptions {
  readonly settings: Settings;
  readonly opened: OpenedStore;
  readonly log: ErrorLog;
  readonly publisher: () => Publisher;
  readonly lease: (requests: readonly LeaseRequest[]) => Promise<readonly Lease[]>;
  readonly resolve: (name: string) => Promise<NameAnswer>;
  readonly background: (plugin: string, message: unknown) => Promise<unknown>;
}

/** Answers what workers ask, and keeps a copy of it where the database is elsewhere. */
export class WorkerCalls {
  readonly handler: CallHandler;
  readonly #remembered: RememberedRows | null = null;
  readonly #writer: LastGoodWriter | null = null;
  readonly #log: ErrorLog;
  readonly #path: string;

  constructor({ settings, opened, log, publisher, lease, resolve, background }: WorkerCallsOptions) {
    const { store, entities } = opened;
    const followed = (): number => publisher().sent;
    this.#log = log;
    this.#path = join(settings.prefix, 'last-good-lookups.json');
    // SQLite is as local as a copy of it would be.
    if (store.kind === 'postgres') {
      const remembered = new RememberedRows({
        path: this.#path,
        ask: async (question) => ({ version: followed(), rows: await readRows(store, question) }),
        askMany: (batch) => readManyRows(store, batch),
        changed: () => this.#writer?.changed(),
      });
      this.#remembered = remembered;
      this.#writer = new LastGoodWriter({
        write: () => remembered.write(),
        onError: (error) => log.error('the copy of consumers and credentials cannot be written', { err: error }),
        delay: writeDelay,
      });
    }
    this.handler = new CallHandler({
      store,
      entities,
      hashKeys: settings.hashKeys,
      remembered: this.#remembered,
      followed,
      published: (version) => publisher().published(version),
      lease,
      resolve,
      background,
    });
  }

  /** Before the workers are told. */
  changed({ touched = [], forgetAll = false, version }: SnapshotDelta): void {
    if (forgetAll) this.#remembered?.forgetUnchecked(version);
    else if (touched.length > 0) this.#remembered?.touch(touched, version);
  }

  /** The node compares everything it holds with the store. Rejects while the store is unavailable. */
  async recheck(): Promise<void> {
    await this.#remembered?.recheck();
  }

  /** The database is away: takes over what was kept when it was there. */
  async restore(): Promise<void> {
    try {
      await this.#remembered?.read();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.warn(`the copy of consumers and credentials is not used: ${reason}`, { path: this.#path });
    }
  }

  async close(): Promise<void> {
    await this.#writer?.flush();
  }
}
