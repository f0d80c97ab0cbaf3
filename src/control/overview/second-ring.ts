import { mergeSketches, type Sketch } from '../../shared/usage/latency-sketch.ts';
import { type MeterTotals, readMeter, statusClasses } from '../../shared/usage/request-meter.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Counter, type CounterName, sumCounter } from '../../shared/zones/counters.ts';

/** What the node did in about one second. */
export interface Traffic {
  /** Milliseconds. */
  readonly duration: number;
  /** Requests that ended, by the first digit of the status, from 1 on. */
  readonly statuses: readonly number[];
  /** Latencies of the same requests, milliseconds. */
  readonly latencies: Sketch;
  /** Heads and bodies, from and to clients. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Connections of clients, further attempts at backends, attempts that failed, requests refused as malformed or because of overload. */
  readonly counts: Readonly<Record<SecondCount, number>>;
}

export interface Second extends Traffic {
  /** When it ended, milliseconds since the epoch. */
  readonly at: number;
  /** Of that moment: requests in flight, connections of clients. */
  readonly inFlight: number;
  readonly connections: number;
}

const secondCounts = ['connectionsAccepted', 'retries', 'upstreamFailed', 'badRequests', 'shed'] as const;
export type SecondCount = (typeof secondCounts)[number] & CounterName;

export interface SecondRingOptions {
  /** Shared memory of request-meter.ts, and of zones/counters.ts. */
  readonly meter: SharedArrayBuffer;
  readonly counters: SharedArrayBuffer;
  /** Requests in flight in all workers. */
  readonly inFlight: () => number;
  /** Milliseconds; given by tests. */
  readonly monotonic?: () => number;
}

interface Totals {
  readonly meter: MeterTotals;
  readonly counts: Readonly<Record<SecondCount, number>>;
  /** Monotonic. */
  readonly at: number;
}

/** Seconds that are kept. */
export const keptSeconds = 300;
const second = 1_000;

/**
 * The last seconds of the node, each the difference of two readings of shared memory. Reading takes some microseconds, so it is done
 * also while there is no viewer: the next one sees what happened before.
 */
export class SecondRing {
  readonly #options: SecondRingOptions;
  readonly #seconds: Second[] = [];
  readonly #listeners = new Set<(latest: Second) => void>();
  #before: Totals;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: SecondRingOptions) {
    this.#options = options;
    this.#before = this.#read();
  }

  /** Begins to read each second, a little after it has begun by the clock. */
  start(): void {
    if (this.#closed || this.#timer !== null) return;
    this.#before = this.#read();
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  /** The latest is the last; at most `keptSeconds`. */
  last(count: number): readonly Second[] {
    return count <= 0 ? [] : this.#seconds.slice(-count);
  }

  /** Calls back after each second. Returns what ends it. The listener must not throw. */
  onSecond(listener: (latest: Second) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #schedule(): void {
    this.#timer = setTimeout(
      () => {
        this.#take();
        this.#schedule();
      },
      second - (Date.now() % second),
    ).unref();
  }

  #take(): void {
    const before = this.#before;
    const now = this.#read();
    // A timer may be early by a fraction of a millisecond.
    if (now.at - before.at < second / 2) return;
    this.#before = now;
    const { counters, inFlight } = this.#options;
    const latest: Second = {
      ...difference(before, now),
      at: Date.now(),
      inFlight: inFlight(),
      connections: sumCounter(counters, Counter.connectionsActive),
    };
    this.#seconds.push(latest);
    if (this.#seconds.length > keptSeconds) this.#seconds.shift();
    for (const listener of this.#listeners) listener(latest);
  }

  #read(): Totals {
    const { meter, counters } = this.#options;
    const counts = secondCounts.map((name) => [name, sumCounter(counters, Counter[name])] as const);
    return {
      meter: readMeter(meter),
      counts: Object.fromEntries(counts) as Totals['counts'],
      at: (this.#options.monotonic ?? monotonic)(),
    };
  }
}

function difference(before: Totals, now: Totals): Traffic {
  const counts = secondCounts.map((name) => [name, Math.max(0, now.counts[name] - before.counts[name])] as const);
  const latencies: number[] = [];
  for (const [bucket, count] of now.meter.buckets.entries()) {
    const added = (count - before.meter.buckets[bucket]!) >>> 0;
    if (added > 0) latencies.push(bucket, added);
  }
  return {
    duration: now.at - before.at,
    statuses: Array.from(now.meter.statuses, (count, at) => (count - before.meter.statuses[at]!) >>> 0),
    latencies,
    bytesIn: now.meter.bytesIn - before.meter.bytesIn,
    bytesOut: now.meter.bytesOut - before.meter.bytesOut,
    counts: Object.fromEntries(counts) as Traffic['counts'],
  };
}

/** Several seconds as one. */
export function sumTraffic(seconds: readonly Traffic[]): Traffic {
  const sum = (read: (one: Traffic) => number): number => seconds.reduce((total, one) => total + read(one), 0);
  return {
    duration: sum(({ duration }) => duration),
    statuses: Array.from({ length: statusClasses }, (_, at) => sum(({ statuses }) => statuses[at]!)),
    latencies: seconds.reduce<Sketch>((merged, { latencies }) => mergeSketches(merged, latencies), []),
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
    counts: Object.fromEntries(
      secondCounts.map((name) => [name, sum(({ counts }) => counts[name])]),
    ) as Traffic['counts'],
  };
}
