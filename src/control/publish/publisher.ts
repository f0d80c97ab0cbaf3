import { setImmediate as nextTurn } from 'node:timers/promises';
import { type SnapshotDelta, type SnapshotFailure, snapshotEntities } from '../../shared/messages/messages.ts';
import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import type { ZoneRegistry } from '../../shared/zones/zone-registry.ts';
import type { ConfigPublisher } from '../admin/contract.ts';
import type { Change, ChangeBatch, Dump, FeedPosition, HistoryGap, Store } from '../store/store.ts';
import type { AddressBook } from './address-book.ts';
import { ConfigMirror } from './config-mirror.ts';
import { deltaPieces } from './delta-pieces.ts';
import type { LastGoodWriter } from './last-good-writer.ts';
import type { DeltaReceivers, PublisherLog, PublisherOptions, StoredEvent } from './publisher-options.ts';

/** Maximum changes that are read at once. */
const changesPerRead = 256;
const retryPause = 1000;
const closeLimit = 1000;

/** Follows the store's changes and sends them to the workers of this node. */
export class Publisher implements ConfigPublisher {
  readonly failures = new Map<string, string>();
  readonly #mirror = new ConfigMirror();
  readonly #store: Store;
  readonly #workers: DeltaReceivers;
  readonly #log: PublisherLog;
  readonly #ackTimeout: number;
  readonly #restorePause: number;
  readonly #zones: ZoneRegistry | null;
  readonly #addresses: AddressBook | null;
  readonly #recheck: () => Promise<void>;
  readonly #onDelta: (delta: SnapshotDelta) => void;
  readonly #waiters = new Set<() => void>();
  readonly #storedListeners = new Set<(event: StoredEvent) => void>();
  #lastGood: LastGoodWriter | null = null;
  /**
   * Version of the last delta that was sent; later changes did not concern workers. It is that of the store, except that
   * it never decreases: acknowledgements stay comparable after an older backup was restored.
   */
  #sent = -1;
  #pumping: Promise<void> | null = null;
  #wanted = false;
  #resync = false;
  /** The last delta has not reached every worker. */
  #unsent = false;
  #retry: NodeJS.Timeout | null = null;
  #compareTimer: NodeJS.Timeout | null = null;
  /** The next comparison determines whether a restore has ended. */
  #confirming = false;
  /** The history of the store does not contain the position of the node. */
  #rewritten = false;
  #failing = false;
  #closed = false;
  #unsubscribe: () => void = () => {};

  constructor(options: PublisherOptions) {
    this.#store = options.store;
    this.#workers = options.workers;
    this.#log = options.log;
    this.#ackTimeout = options.ackTimeout ?? 3000;
    this.#restorePause = options.restorePause ?? 5000;
    this.#zones = options.zones ?? null;
    this.#addresses = options.addresses ?? null;
    this.#recheck = options.recheck ?? (() => Promise.resolve());
    this.#onDelta = options.onDelta ?? (() => {});
  }

  /** Position of the store up to which the workers have been sent changes. */
  get position(): FeedPosition {
    return this.#mirror.position;
  }

  /** Version of the last delta that was sent. */
  get sent(): number {
    return this.#sent;
  }

  /** False: the last changes have not been sent, or a comparison with the store is due. */
  get isComplete(): boolean {
    return !this.#unsent && !this.#resync;
  }

  /** The whole config as it was last sent. */
  config(): SnapshotDelta {
    return { ...this.#mirror.full(), version: this.#sent };
  }

  /**
   * Calls back after each batch of changes that was read from the store, and after each comparison with all of it, when `position` and
   * `config` have it and cached lookups have been evicted. Returns the function that ends it. The listener must not throw.
   */
  onStored(listener: (event: StoredEvent) => void): () => void {
    const entry = (event: StoredEvent): void => listener(event);
    this.#storedListeners.add(entry);
    return () => this.#storedListeners.delete(entry);
  }

  /** From now on every change is written to the last-good file, too. */
  keepLastGood(writer: LastGoodWriter): void {
    this.#lastGood = writer;
  }

  /** Sends the workers their first config. It is compared with the store before anything else is read from there. */
  begin(dump: Dump): void {
    this.#mirror.replace(dump);
    this.#sent = dump.version;
    this.#resync = true;
    this.#onDelta(this.config());
    this.#zones?.change(this.config());
    this.#addresses?.change(this.config());
    this.#workers.configure(() => ({
      json: JSON.stringify(this.config()),
      zones: { added: this.#zones?.all() ?? {}, dropped: [] },
      addresses: this.#addresses?.all() ?? { changed: [], dropped: [] },
    }));
    this.#stored({ kind: 'config', position: this.position, changed: true });
  }

  /** Like `begin`, with a config that needs no comparison: it was read from the store that is followed, in that position. */
  resume(dump: Dump): void {
    this.begin(dump);
    this.#resync = false;
  }

  /** Reads the config from the store and sends it to the workers. `read`: how. */
  async load(read: () => Promise<Dump> = () => this.#store.dump(snapshotEntities)): Promise<void> {
    this.resume(await read());
    this.#lastGood?.changed();
  }

  /**
   * Follows the store from here on. `resync`: the config of the workers did not come from this store, so it is first
   * compared with all rows of the store.
   */
  follow(resync = false): void {
    if (this.#closed) return;
    this.#resync ||= resync;
    this.#unsubscribe = this.#store.subscribe(() => void this.#pump());
    void this.#pump();
  }

  /** Reads changes that another process has written. */
  catchUp(): void {
    if (!this.#closed) void this.#pump();
  }

  async published(version: number, timeout: number = this.#ackTimeout): Promise<void> {
    const began = performance.now();
    if (await this.reached(version, timeout)) return;
    this.#log.log('warn', 'not every worker has applied a change in time; its write is answered anyway', {
      version,
      followed: this.position.version,
      workers: this.#workers.lagging(this.#sent),
      waited_ms: Math.round(performance.now() - began),
    });
  }

  /** Resolves to true when every worker has that version of the store, or to false after `timeout` milliseconds. */
  async reached(version: number, timeout: number): Promise<boolean> {
    const end = performance.now() + timeout;
    if (!this.#carries(version)) await this.#followedTo(version, timeout);
    const left = Math.max(0, end - performance.now());
    return this.#carries(version) && (await this.#workers.settled(this.#sent, left));
  }

  /** Records all entities that some worker could not apply. */
  noteFailures(failures: readonly SnapshotFailure[]): void {
    const before = new Map(this.failures);
    this.failures.clear();
    for (const { entity, id, reason } of failures) {
      const key = `${entity}:${id}`;
      this.failures.set(key, reason);
      if (before.get(key) !== reason) this.#log.log('error', 'an entity cannot be used', { entity, id, reason });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe();
    if (this.#retry !== null) clearTimeout(this.#retry);
    if (this.#compareTimer !== null) clearTimeout(this.#compareTimer);
    // It may wait for a database that hangs; the current config is written anyway.
    if (this.#pumping !== null) await awaitWithTimeout(this.#pumping, closeLimit);
    await this.#lastGood?.flush();
  }

  /** Whether this version has been sent to the workers. Not known before a comparison that is due. */
  #carries(version: number): boolean {
    return !this.#unsent && !this.#resync && this.position.version >= version;
  }

  #followedTo(version: number, timeout: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        resolve();
      };
      const check = (): void => {
        if (this.#carries(version)) finish();
      };
      const timer = setTimeout(finish, timeout);
      this.#waiters.add(check);
      // A commit is announced before it is awaited, so a running read already includes it.
      if (this.#pumping === null) void this.#pump();
    });
  }

  /** Reads new changes. While it runs, further calls only make it read once more. */
  #pump(): Promise<void> {
    this.#wanted = true;
    this.#pumping ??= this.#run();
    return this.#pumping;
  }

  async #run(): Promise<void> {
    while (this.#wanted && !this.#closed) {
      this.#wanted = false;
      try {
        if (this.#resync) await this.#compare();
        else await this.#catchUp();
        if (this.#failing) this.#log.log('notice', 'the store can be read again');
        this.#failing = false;
      } catch (error) {
        this.#retryLater(error);
      }
    }
    // In the same tick as the last check of `#wanted`, so that no request in between is lost.
    this.#pumping = null;
  }

  async #catchUp(): Promise<void> {
    const batch = await this.#readToHead();
    if (typeof batch === 'string') return this.#compare(batch);
    if (batch.changes.length === 0) return;
    const delta = this.#mirror.apply(batch);
    // Reported before workers of this node have it: other nodes need not wait for them.
    const sent = delta === null ? null : this.#sendOrCompare(delta);
    this.#stored({ kind: 'changes', batch });
    await sent;
    this.#wake();
  }

  /**
   * All changes up to the last commit, however many: a delta that ends within a transaction would show workers half of it, and rows
   * are read as they are now, also in a later transaction.
   */
  async #readToHead(): Promise<ChangeBatch | HistoryGap> {
    const changes: Change[] = [];
    let { position } = this;
    for (;;) {
      const batch = await this.#store.changesSince(position, changesPerRead);
      if (typeof batch === 'string') return batch;
      // Not by spreading: the store of a data plane never divides a step, however large.
      for (const change of batch.changes) changes.push(change);
      position = batch.position;
      if (batch.changes.length < changesPerRead) return { changes, position };
      // SQLite reads synchronously, so lookups run here.
      await nextTurn();
    }
  }

  async #compare(gap?: HistoryGap): Promise<void> {
    // Until it is done, no version counts as published: after a restore the node may be ahead of the store.
    this.#resync = true;
    const before = this.position;
    // A copy from an earlier version does not name its store.
    const known = before.store !== '';
    this.#rewritten ||= known && (gap ?? (await this.#store.changesSince(before, 1))) === 'rewritten';
    const dump = await this.#store.dump(snapshotEntities);
    await this.#recheck();
    this.#resync = false;
    const delta = await this.#mirror.replaceInPieces(dump, nextTurn);
    const sent = this.#sendOrCompare(delta);
    this.#stored({ kind: 'config', position: this.position, changed: !isEmpty(delta) });
    await sent;
    const restored = this.#rewritten;
    this.#rewritten = false;
    if (restored) {
      this.#log.log('warn', 'the database was restored or replaced; the whole config was read from it again', {
        version: dump.version,
        version_before: before.version,
        store: dump.store,
        ...(before.store === dump.store ? {} : { store_before: before.store }),
      });
    } else this.#log.log('notice', 'the config was compared with the store', { version: dump.version });
    if (restored || (this.#confirming && !isEmpty(delta))) this.#compareAgain();
    this.#confirming = false;
    this.#wake();
    return this.#catchUp();
  }

  /** A restore that is not one transaction can continue after its version is visible, so the rows are compared until they stay. */
  #compareAgain(): void {
    if (this.#compareTimer !== null) clearTimeout(this.#compareTimer);
    this.#compareTimer = setTimeout(() => {
      this.#resync = true;
      this.#confirming = true;
      void this.#pump();
    }, this.#restorePause).unref();
  }

  /**
   * The mirror is ahead of the workers when a delta could not be sent. The next round then compares everything and sends the whole
   * config, since it is unknown how much of the delta took effect.
   */
  async #sendOrCompare(delta: SnapshotDelta): Promise<void> {
    try {
      await this.#send(this.#unsent ? { ...this.#mirror.full(), invalidateAll: true } : delta);
      this.#unsent = false;
    } catch (error) {
      this.#unsent = true;
      this.#resync = true;
      throw error;
    }
  }

  async #send(change: SnapshotDelta): Promise<void> {
    this.#sent = Math.max(this.#sent + 1, change.version);
    const delta = { ...change, version: this.#sent };
    this.#onDelta(delta);
    const zones = this.#zones?.change(delta) ?? null;
    const addresses = this.#addresses?.change(delta) ?? null;
    const pieces = deltaPieces(delta);
    for (const piece of pieces.slice(0, -1)) {
      this.#workers.broadcast({ type: 'delta', json: JSON.stringify(piece), more: true });
      await nextTurn();
    }
    this.#workers.broadcast({
      type: 'delta',
      json: JSON.stringify(pieces.at(-1)),
      ...(zones === null ? {} : { zones }),
      ...(addresses === null ? {} : { addresses }),
    });
    this.#lastGood?.changed();
  }

  #stored(event: StoredEvent): void {
    for (const listener of this.#storedListeners) listener(event);
  }

  #wake(): void {
    for (const check of [...this.#waiters]) check();
  }

  #retryLater(error: unknown): void {
    if (!this.#failing)
      this.#log.log('error', 'the store cannot be read; continuing with the current config', { err: error });
    this.#failing = true;
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      void this.#pump();
    }, retryPause).unref();
  }
}

function isEmpty({ upserts, removes }: SnapshotDelta): boolean {
  return Object.keys(upserts).length === 0 && Object.keys(removes).length === 0;
}
