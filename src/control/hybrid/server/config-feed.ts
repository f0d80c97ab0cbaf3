import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { Publisher } from '../../publish/publisher.ts';
import type { PublisherLog, StoredEvent } from '../../publish/publisher-options.ts';
import type { Change, ChangeBatch, FeedPosition, Store } from '../../store/store.ts';
import type { DataPlaneRights } from './data-plane-rights.ts';
import { changesForDataPlanes } from './feed-rows.ts';
import { SharedConfig } from './shared-config.ts';
import { encodeMessage, textBatches } from './text-batches.ts';

export interface ConfigFeedOptions {
  readonly publisher: Publisher;
  readonly store: Store;
  readonly entities: EntityRegistry;
  readonly rights: DataPlaneRights;
  /** Maximum bytes of a message. */
  readonly maxPayload: number;
  readonly log: PublisherLog;
}

/** A step from one position to the next, as messages. */
export interface FeedStep {
  readonly since: FeedPosition;
  readonly position: FeedPosition;
  readonly messages: readonly Buffer[];
}

/** How a data plane that is in some position gets the rest. `wait`: it is ahead, and the database cannot say whether it may be. */
export type Located =
  | { readonly kind: 'in-feed' }
  | { readonly kind: 'catch-up'; readonly step: FeedStep }
  | { readonly kind: 'whole' | 'wait' };

/** Steps that are kept for data planes that reconnect. */
const maxSteps = 1024;
const maxBytes = 16 * 1024 * 1024;
/** Changes that are read from the database for a data plane; with more it gets the whole config. */
const maxCaughtUp = 4096;
const changesPerRead = 256;
/** Data planes that receive a step in one turn of the event loop. */
const listenersPerTurn = 50;
/** Data planes that connect together have the same position. Milliseconds for which the answer about it is used again. */
const locatedFor = 500;

/** The config as a sequence of steps, each serialised once for all data planes. */
export class ConfigFeed {
  readonly #options: ConfigFeedOptions;
  readonly #steps: FeedStep[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #located = new Map<string, Promise<Located>>();
  readonly #unsubscribe: () => void;
  #bytes = 0;
  #head: FeedPosition;
  /** Increases whenever data planes need the whole config, whatever position they are in. */
  #epoch = 0;
  #whole: SharedConfig | null = null;
  #queue: Promise<void> = Promise.resolve();

  constructor(options: ConfigFeedOptions) {
    this.#options = options;
    this.#head = options.publisher.position;
    this.#unsubscribe = options.publisher.onStored((event) => {
      this.#queue = this.#queue.then(() => this.#take(event)).catch((error: unknown) => this.#failed(error));
    });
  }

  /** Position of the newest step; version -1: there is no config yet. */
  get head(): FeedPosition {
    return this.#head;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Calls back after each step. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The step that continues a position that was located: null: it is the newest; `gone`: it is no longer known. */
  after({ version }: FeedPosition): FeedStep | null | 'gone' {
    if (version >= this.#head.version) return null;
    const first = this.#steps[0];
    if (first === undefined || first.since.version > version) return 'gone';
    // Usually the last step, since data planes follow.
    const index = this.#steps.findLastIndex((step) => step.position.version <= version) + 1;
    return this.#steps[index] ?? 'gone';
  }

  /** Determines whether the position is in the history of the store. */
  async locate(position: FeedPosition): Promise<Located> {
    if (position.store !== this.#head.store) return { kind: 'whole' };
    const steps = this.#steps;
    const boundaries = [this.#head, ...steps.map(({ since }) => since)];
    if (boundaries.some((one) => isSame(one, position))) return { kind: 'in-feed' };
    const key = `${position.version}/${position.stamp}`;
    const known = this.#located.get(key);
    if (known !== undefined) return known;
    const located = this.#readHistory(position);
    this.#located.set(key, located);
    setTimeout(() => this.#located.delete(key), locatedFor).unref();
    return located;
  }

  /** The whole config; data planes that need it at the same time share it. `release` it afterwards. */
  whole(): SharedConfig {
    const current = this.#whole;
    if (current !== null && current.epoch === this.#epoch && this.after(current.position) !== 'gone') {
      return current.acquire();
    }
    const { publisher, maxPayload } = this.#options;
    this.#whole = new SharedConfig(publisher.config(), {
      position: publisher.position,
      epoch: this.#epoch,
      maxPayload,
      onUnused: (config) => {
        if (this.#whole === config) this.#whole = null;
      },
    });
    return this.#whole.acquire();
  }

  close(): void {
    this.#unsubscribe();
    this.#listeners.clear();
    this.#steps.length = 0;
  }

  async #take(event: StoredEvent): Promise<void> {
    if (event.kind === 'changes') await this.#append(event.batch);
    else {
      const { position, changed } = event;
      this.#steps.length = 0;
      this.#bytes = 0;
      this.#head = position;
      this.#located.clear();
      if (changed) this.#epoch++;
    }
    await this.#notify();
  }

  async #append(batch: ChangeBatch): Promise<void> {
    const step = await this.#step(this.#head, batch);
    this.#steps.push(step);
    this.#bytes += bytesOf(step);
    this.#head = batch.position;
    while (this.#steps.length > 1 && (this.#steps.length > maxSteps || this.#bytes > maxBytes)) {
      const oldest = this.#steps.shift();
      if (oldest !== undefined) this.#bytes -= bytesOf(oldest);
    }
  }

  async #step(since: FeedPosition, { changes, position }: ChangeBatch): Promise<FeedStep> {
    const { entities, rights, maxPayload } = this.#options;
    const shown = await changesForDataPlanes(changes, entities, rights);
    const messages: Buffer[] = [];
    let sent = 0;
    for (const texts of textBatches(shown)) {
      if (sent > 0) await nextTurn();
      sent += texts.length;
      messages.push(...encodeMessage(changesText(texts, sent === shown.length ? position : null), maxPayload));
    }
    if (sent === 0) messages.push(...encodeMessage(changesText([], position), maxPayload));
    return { since, position, messages };
  }

  async #readHistory(since: FeedPosition): Promise<Located> {
    const changes: Change[] = [];
    let position = since;
    try {
      for (;;) {
        const batch = await this.#options.store.changesSince(position, changesPerRead);
        if (typeof batch === 'string' || changes.length > maxCaughtUp) return { kind: 'whole' };
        changes.push(...batch.changes);
        position = batch.position;
        if (batch.changes.length < changesPerRead) break;
        await nextTurn();
      }
    } catch {
      return { kind: since.version > this.#head.version ? 'wait' : 'whole' };
    }
    return { kind: 'catch-up', step: await this.#step(since, { changes, position }) };
  }

  async #notify(): Promise<void> {
    let told = 0;
    for (const listener of [...this.#listeners]) {
      listener();
      if (++told % listenersPerTurn === 0) await nextTurn();
    }
  }

  #failed(error: unknown): void {
    this.#options.log.log('error', 'a change could not be sent to data planes; they get the whole config', {
      err: error,
    });
    this.#steps.length = 0;
    this.#bytes = 0;
    this.#head = this.#options.publisher.position;
    this.#epoch++;
  }
}

/** A message `changes`. */
function changesText(changes: readonly string[], position: FeedPosition | null): string {
  return `{"t":"changes","changes":[${changes.join(',')}],"position":${JSON.stringify(position)}}`;
}

function bytesOf({ messages }: FeedStep): number {
  return messages.reduce((sum, { length }) => sum + length, 0);
}

function isSame(one: FeedPosition, other: FeedPosition): boolean {
  return one.version === other.version && one.stamp === other.stamp && one.store === other.store;
}
