import type { PluginTools } from '../../plugin-sdk/tools.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { throttledLog } from '../../shared/util/time/throttled-log.ts';
import { type OutageReporter, outageReporter } from '../logging/outage-reporter.ts';
import { DeliveryDeferred, DeliveryRefused } from './delivery-errors.ts';
import { ArrayQueueBuffer, type QueueBuffer } from './queue-buffer.ts';
import { type QueueLimits, type QueueSettings, queueLimits } from './queue-settings.ts';

export interface QueueOptions<T, Entries extends { readonly length: number } = readonly T[]> {
  readonly settings: QueueSettings;
  /**
   * Sends one batch, the oldest entry first. After a rejection it is called again, with growing pauses until `max_retry_time` is
   * over; then the batch is dropped. After a `DeliveryRefused` it is dropped at once. After a `DeliveryDeferred` the next attempt is
   * made when the receiver says. The signal is aborted when the time of the queue is over.
   * Once it settles, it no longer uses the batch.
   */
  readonly send: (batch: Entries, signal: AbortSignal) => Promise<void>;
  /** Bytes of an entry. Default: what the buffer counts, or the size of a text or byte array, 256 for anything else. */
  readonly size?: (entry: T) => number;
  /** Holds the entries that wait; `TextQueueBuffer` for many texts. Default: an array. */
  readonly buffer?: QueueBuffer<T, Entries>;
  /** Counts `entries_sent`, `entries_dropped` and `delivery_failures`. */
  readonly tools: Pick<PluginTools, 'log' | 'count'>;
  /** Name of the entries in the error log: `log records`. */
  readonly what: string;
  /** Maximum milliseconds of `drain`. Default: 4,000. */
  readonly drainTime?: number;
  /** Maximum milliseconds of `close`. Default: 10,000. */
  readonly closingTime?: number;
}

/** Milliseconds between two lines about dropped entries. */
const dropReportInterval = 60_000;

interface Batch<Entries> {
  readonly entries: Entries;
  readonly bytes: number;
  readonly begunAt: number;
  failures: number;
  /** Between two attempts; null while `send` runs. */
  pause: NodeJS.Timeout | null;
}

/**
 * Delivers entries in batches, by Kong's rules: in the memory of one worker, bounded in number and bytes, with retries. When the
 * queue is full, the oldest entry that is not in flight is dropped and counted. `push` is cheap and never throws, so it cannot
 * delay a request.
 */
export class DeliveryQueue<T, Entries extends { readonly length: number } = readonly T[]> {
  readonly #options: QueueOptions<T, Entries>;
  readonly #limits: QueueLimits;
  readonly #size: (entry: T) => number;
  readonly #failed: OutageReporter;
  readonly #reportDropped: (reason: string) => void;
  readonly #waiting: QueueBuffer<T, Entries>;
  readonly #batches = new Set<Batch<Entries>>();
  readonly #ending = new AbortController();
  /** Entries and bytes of the batches. */
  #takenEntries = 0;
  #takenBytes = 0;
  /** When the oldest waiting entry was added, or the batch before it was taken. */
  #since = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Does not wait for more entries. */
  #flushing = false;
  #ended = false;
  #emptied: PromiseWithResolvers<void> | null = null;

  constructor(options: QueueOptions<T, Entries>) {
    const { settings, size = sizeOf, tools, what } = options;
    this.#options = options;
    this.#limits = queueLimits(settings);
    this.#size = size;
    // Entries that are not an array come from a buffer of their own.
    this.#waiting = options.buffer ?? (new ArrayQueueBuffer<T>() as unknown as QueueBuffer<T, Entries>);
    this.#failed = outageReporter(tools, 'delivery_failures', `${what} could not be delivered`, {
      untilSuccess: true,
    });
    this.#reportDropped = throttledLog(dropReportInterval, (reason, suppressed) => {
      tools.log.warn(`${what} were dropped`, { reason, ...(suppressed === 0 ? {} : { suppressed }) });
    });
  }

  /** Number of entries that wait or are in flight. */
  get entries(): number {
    return this.#waiting.length + this.#takenEntries;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#waiting.bytes + this.#takenBytes;
  }

  push(entry: T): void {
    const bytes = this.#hasRoomFor(entry) ? -1 : this.#size(entry);
    if (bytes >= 0 && !this.#makeRoom(bytes)) return;
    if (this.#waiting.length === 0) this.#since = monotonic();
    this.#waiting.push(entry, bytes);
    if (this.#waiting.length >= this.#limits.maxBatchSize || this.#flushing) this.#pump();
    else if (this.#timer === null) this.#wait();
  }

  /** True: there is room, whatever the size of the entry is exactly. To count the bytes of a text costs as much as to write them. */
  #hasRoomFor(entry: T): boolean {
    if (this.#ended || this.#options.size !== undefined || this.#waiting.maxSize === undefined) return false;
    const { maxEntries, maxBytes } = this.#limits;
    return this.entries < maxEntries && this.bytes + this.#waiting.maxSize(entry) <= maxBytes;
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
      // All other entries are in flight: the new one is dropped.
      if (!this.#waiting.dropOldest()) break;
      hasRoom = this.entries < maxEntries && this.bytes + bytes <= maxBytes;
    }
    if (dropped > 0) this.#drop(dropped, 'the queue is full');
    return hasRoom;
  }

  /**
   * For `drain` of the plugin: delivers all entries without waiting for more. Resolves when that is done, or when `drainTime` is over
   * and the rest is dropped. Never rejects.
   */
  drain(): Promise<void> {
    return this.#finish(this.#options.drainTime ?? 4_000, true);
  }

  /**
   * For `dispose` of the plugin: delivers all entries, for at most `closingTime`. Once it resolves, close what `send` uses. Never
   * rejects.
   */
  close(): Promise<void> {
    return this.#finish(this.#options.closingTime ?? 10_000, false);
  }

  /** `keepsAlive`: the timer keeps the process alive until it is done. */
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

  /** Starts the batches that are due. */
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

  /** While the maximum number of batches is in flight, the end of one of them continues, not a timer. */
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
    const batch: Batch<Entries> = { entries, bytes: bytes - this.#waiting.bytes, begunAt, failures: 0, pause: null };
    this.#since = begunAt;
    this.#takenEntries += entries.length;
    this.#takenBytes += batch.bytes;
    this.#batches.add(batch);
    void this.#attempt(batch);
  }

  async #attempt(batch: Batch<Entries>): Promise<void> {
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

  #attemptFailed(batch: Batch<Entries>, error: unknown): void {
    this.#failed(error);
    const { retryTime, firstPause, maxPause } = this.#limits;
    const left = retryTime - (monotonic() - batch.begunAt);
    if (left <= 0 || error instanceof DeliveryRefused) {
      this.#drop(batch.entries.length, left <= 0 ? 'max_retry_time is over' : 'they were refused');
      this.#done(batch);
      return;
    }
    // The last attempt is made when the time is over.
    const usual = Math.min(firstPause * 2 ** Math.min(batch.failures++, 40), maxPause, left);
    const pause = error instanceof DeliveryDeferred ? Math.max(usual, error.wait) : usual;
    batch.pause = setTimeout(() => this.#tryNow(batch), Math.max(1, Math.ceil(pause))).unref();
  }

  #tryNow(batch: Batch<Entries>): void {
    if (batch.pause === null) return;
    clearTimeout(batch.pause);
    batch.pause = null;
    void this.#attempt(batch);
  }

  #done(batch: Batch<Entries>): void {
    this.#batches.delete(batch);
    this.#takenEntries -= batch.entries.length;
    this.#takenBytes -= batch.bytes;
    this.#waiting.release?.(batch.entries);
    this.#pump();
  }

  #drop(count: number, reason: string): void {
    this.#options.tools.count('entries_dropped', count);
    this.#reportDropped(reason);
  }
}

function sizeOf(entry: unknown): number {
  if (typeof entry === 'string') return Buffer.byteLength(entry);
  return ArrayBuffer.isView(entry) ? entry.byteLength : 256;
}
