import { join } from 'node:path';
import { CachedRows } from '../../control/lookup/cached-rows.ts';
import { CallHandler, readManyRows, readRows } from '../../control/lookup/call-handler.ts';
import { LastGoodWriter } from '../../control/publish/last-good-writer.ts';
import type { Publisher } from '../../control/publish/publisher.ts';
import type { Lease, LeaseRequest } from '../../shared/limits/limit-tools.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import type { NameAnswer } from '../../shared/messages/name-changes.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { OpenedStore } from './open-store.ts';

/** Milliseconds between two writes of the cached rows. */
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

/** Answers the calls of workers, and keeps a copy of the answers where the store is on another host. */
export class WorkerCalls {
  readonly handler: CallHandler;
  /** Null: the store is on this host. */
  readonly cached: CachedRows | null = null;
  readonly #writer: LastGoodWriter | null = null;
  readonly #log: ErrorLog;
  readonly #path: string;

  constructor({ settings, opened, log, publisher, lease, resolve, background }: WorkerCallsOptions) {
    const { store, entities } = opened;
    const followed = (): number => publisher().sent;
    this.#log = log;
    this.#path = join(settings.prefix, 'last-good-lookups.json');
    // A SQLite file is as local as a copy of it would be.
    if (store.kind !== 'sqlite') {
      const cached = new CachedRows({
        path: this.#path,
        query: async (question) => ({ version: followed(), rows: await readRows(store, question) }),
        queryMany: (batch) => readManyRows(store, batch),
        changed: () => this.#writer?.changed(),
      });
      this.cached = cached;
      this.#writer = new LastGoodWriter({
        write: () => cached.write(),
        onError: (error) => log.error('the copy of consumers and credentials cannot be written', { err: error }),
        delay: writeDelay,
      });
    }
    this.handler = new CallHandler({
      store,
      entities,
      hashKeys: settings.hashKeys,
      cached: this.cached,
      followed,
      published: (version) => publisher().published(version),
      lease,
      resolve,
      background,
    });
  }

  /** Call it before the workers receive the change. */
  changed({ touched = [], invalidateAll = false, version }: SnapshotDelta): void {
    if (invalidateAll) this.cached?.discardUnchecked(version);
    else if (touched.length > 0) this.cached?.touch(touched, version);
  }

  /** Compares the cached rows with the store. Rejects while the store is unavailable. */
  async recheck(): Promise<void> {
    await this.cached?.recheck();
  }

  /** The store is unavailable: reads the copy that was written while it was available. */
  async restore(): Promise<void> {
    try {
      await this.cached?.read();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.warn(`the copy of consumers and credentials is not used: ${reason}`, { path: this.#path });
    }
  }

  async close(): Promise<void> {
    await this.#writer?.flush();
  }
}
