import { monotonic } from '../util/clock.ts';
import { nowAndThen } from '../util/now-and-then.ts';
import type { PluginTools } from './define-plugin.ts';
import { DeliveryDeferred, DeliveryRefused } from './delivery-errors.ts';
import { type OutageReporter, outageReporter } from './outage.ts';
import { type QueueLimits, type QueueSettings, queueLimits } from './queue-settings.ts';
import { WaitingEntries, type WaitingStore } from './waiting-entries.ts';

export { DeliveryDeferred, DeliveryRefused } from './delivery-errors.ts';
export { type LegacyQueueFields, type QueueSettings, queueSettings } from './queue-settings.ts';
export { WaitingTexts } from './waiting-texts.ts';

export interface QueueOptions<T> {
  readonly settings: QueueSettings;
  /**
   * Delivers one batch, its oldest entry first. A rejection is tried again with growing pauses until `max_retry_time` is over, then
   * the batch is dropped; one with a `DeliveryRefused` at once, and one with a `DeliveryDeferred` is tried again when the receiver says.
   * The signal: the queue's own time is over.
   */
  readonly send: (batch: readonly T[], signal: AbortSignal) => Promise<void>;
  /** Bytes of an entry. Default: those of texts and byte arrays, 256 for anything else. */
  readonly size?: (entry: T) => number;
  /** Where entries wait; `WaitingTexts` for texts of which there may be many. Default: an array. */
  readonly waiting?: WaitingStore<T>;
  /** Counts `entries_sent`, `entries_dropped` and `delivery_failures`. */
  readonly tools: Pick<PluginTools, 'log' | 'count'>;
  /** What the entries are, for the error log: `log records`. */
  readonly what: string;
  /** Milliseconds that `drain` goes on delivering. Default 4,000. */
  readonly drainTime?: number;
  /** Milliseconds that `close` goes on delivering. Default 10,000. */
  readonly closingTime?: number;
}

/** Milliseconds between two lines about dropped entries. */
const dropReportInterval = 60_000;

interface Batch<T> {
  readonly entries: readonly T[];
  readonly bytes: number;
  readonly begunAt: number;
  failures: number;
  /** Between two attempts; null while `send` runs. */
  pause: NodeJS.Timeout | null;
}

/**
 * Delivers entries in batches, by Kong's rules: kept in the memory of one worker, bounded, and tried again when they cannot be
 * delivered. Without room the oldest of those that are not on their way goes. Nothing here can harm a request: `push` costs little,
 * and never throws.
 */
export class DeliveryQueue<T> {
  readonly #options: QueueOptions<T>;
  readonly #limits: QueueLimits;
  readonly #size: (entry: T) => number;
  readonly #failed: OutageReporter;
  readonly #tellDropped: (reason: string) => void;
  readonly #waiting: WaitingStore<T>;
  readonly #batches = new Set<Batch<T>>();
  readonly #ending = new AbortController();
  /** Entries and bytes of the batches. */
  #takenEntries = 0;
  #takenBytes = 0;
  /** When the oldest waiting entry came, or the batch before it was taken. */
  #since = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Does not wait for more entries. */
  #flushing = false;
  #ended = false;
  #emptied: PromiseWithResolvers<void> | null = null;

  constructor(options: QueueOptions<T>) {
    const { settings, size = sizeOf, tools, what } = options;
    this.#options = options;
    this.#limits = queueLimits(settings);
    this.#size = size;
    this.#waiting = options.waiting ?? new WaitingEntries();
    this.#failed = outageReporter(tools, 'delivery_failures', `${what} could not be delivered`, {
      untilSuccess: true,
    });
    this.#tellDropped = nowAndThen(dropReportInterval, (reason, unsaid) => {
      tools.log.warn(`${what} were dropped`, { reason, ...(unsaid === 0 ? {} : { unsaid }) });
    });
  }

  /** Entries that wait or are on their way. */
  get entries(): number {
    return this.#waiting.length + this.#takenEntries;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#waiting.bytes + this.#takenBytes;
  }

  push(entry: T): void {
    const bytes = this.#size(entry);
    if (!this.#makeRoom(bytes)) return;
    if (this.#waiting.length === 0) this.#since = monotonic();
    this.#waiting.push(entry, bytes);
    if (this.#waiting.length >= this.#limits.maxBatchSize || this.#flushing) this.#pump();
    else if (this.#timer === null) this.#wait();
  }

  /** False when the new entry is dropped itself. */
  #makeRoom(bytes: number): boolean {
    const { maxEntries, maxBytes } = this.#limits;
    if (this.#ended || bytes > maxBytes) {
      this.#drop(1, this.#ended ? 'the queue has ended' : 'one is larger than max_bytes');
      return false;
    }
    let dropped = 0;
    let hasRoom = this.entries < maxEntries && this.bytes + bytes <= maxBytes;
    while (!hasRoom) {
      dropped++;
      // All that is there is on its way: the new one goes.
      if (!this.#waiting.dropOldest()) break;
      hasRoom = this.entries < maxEntries && this.bytes + bytes <= maxBytes;
    }
    if (dropped > 0) this.#drop(dropped, 'the queue is full');
    return hasRoom;
  }

  /**
   * The node ends: delivers what is there without waiting for more, and resolves when that is done, or `drainTime` is over and
   * the rest is dropped. Never rejects.
   */
  drain(): Promise<void> {
    return this.#finish(this.#options.drainTime ?? 4_000, true);
  }

  /**
   * The configuration was replaced: delivers what is there, no longer than `closingTime`. Nobody has to wait for it; when it resolves
   * what `send` uses can be closed. Never rejects.
   */
  close(): Promise<void> {
    return this.#finish(this.#options.closingTime ?? 10_000, false);
  }

  /** `keepsAlive`: the process stays until it is done, even if nothing else is left to do. */
  async #finish(time: number, keepsAlive: boolean): Promise<void> {
    this.#flushing = true;
    for (const batch of this.#batches) this.#tryNow(batch);
    this.#pump();
    if (this.entries > 0) {
      this.#emptied ??= Promise.withResolvers();
      const deadline = setTimeout(() => this.#giveUp(), time);
      if (!keepsAlive) deadline.unref();
      await this.#emptied.promise;
      clearTimeout(deadline);
    }
    this.#ended = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #giveUp(): void {
    const left = this.entries;
    this.#ended = true;
    for (const { pause } of this.#batches) if (pause !== null) clearTimeout(pause);
    this.#batches.clear();
    this.#waiting.clear();
    this.#takenEntries = 0;
    this.#takenBytes = 0;
    this.#ending.abort();
    if (left > 0) this.#drop(left, 'there was no time left to deliver them');
    this.#emptied?.resolve();
  }

  /** Begins the batches that are due. */
  #pump(): void {
    const { maxBatchSize, atOnce, delay } = this.#limits;
    while (this.#waiting.length > 0 && this.#batches.size < atOnce) {
      const isDue = this.#flushing || this.#waiting.length >= maxBatchSize || monotonic() - this.#since >= delay;
      if (!isDue) break;
      this.#begin();
    }
    if (this.#waiting.length > 0) this.#wait();
    if (this.entries === 0) this.#emptied?.resolve();
  }

  /** With all batches on their way the end of one of them goes on, not a timer. */
  #wait(): void {
    const { atOnce, delay } = this.#limits;
    if (this.#timer !== null || this.#batches.size >= atOnce) return;
    const left = Math.max(1, Math.ceil(delay - (monotonic() - this.#since)));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#pump();
    }, left).unref();
  }

  #begin(): void {
    const bytes = this.#waiting.bytes;
    const entries = this.#waiting.take(this.#limits.maxBatchSize);
    const begunAt = monotonic();
    const batch: Batch<T> = { entries, bytes: bytes - this.#waiting.bytes, begunAt, failures: 0, pause: null };
    this.#since = begunAt;
    this.#takenEntries += entries.length;
    this.#takenBytes += batch.bytes;
    this.#batches.add(batch);
    void this.#attempt(batch);
  }

  async #attempt(batch: Batch<T>): Promise<void> {
    try {
      await this.#options.send(batch.entries, this.#ending.signal);
    } catch (error) {
      if (this.#batches.has(batch)) this.#attemptFailed(batch, error);
      return;
    }
    this.#failed.succeeded();
    if (!this.#batches.has(batch)) return;
    this.#options.tools.count('entries_sent', batch.entries.length);
    this.#done(batch);
  }

  #attemptFailed(batch: Batch<T>, error: unknown): void {
    this.#failed(error);
    const { retryTime, firstPause, longestPause } = this.#limits;
    const left = retryTime - (monotonic() - batch.begunAt);
    if (left <= 0 || error instanceof DeliveryRefused) {
      this.#drop(batch.entries.length, left <= 0 ? 'max_retry_time is over' : 'they were refused');
      this.#done(batch);
      return;
    }
    // The last attempt is made when the time is over, and not before.
    const usual = Math.min(firstPause * 2 ** Math.min(batch.failures++, 40), longestPause, left);
    const pause = error instanceof DeliveryDeferred ? Math.max(usual, error.wait) : usual;
    batch.pause = setTimeout(() => this.#tryNow(batch), Math.max(1, Math.ceil(pause))).unref();
  }

  #tryNow(batch: Batch<T>): void {
    if (batch.pause === null) return;
    clearTimeout(batch.pause);
    batch.pause = null;
    void this.#attempt(batch);
  }

  #done(batch: Batch<T>): void {
    this.#batches.delete(batch);
    this.#takenEntries -= batch.entries.length;
    this.#takenBytes -= batch.bytes;
    this.#pump();
  }

  #drop(count: number, reason: string): void {
    this.#options.tools.count('entries_dropped', count);
    this.#tellDropped(reason);
  }
}

function sizeOf(entry: unknown): number {
  if (typeof entry === 'string') return Buffer.byteLength(entry);
  return ArrayBuffer.isView(entry) ? entry.byteLength : 256;
}
