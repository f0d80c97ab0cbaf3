import { getHeapStatistics } from 'node:v8';
import { collectGarbage } from '../../shared/util/process/collect-when-idle.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { threadCpuTime } from '../../shared/util/time/thread-cpu-time.ts';

export interface OverloadOptions {
  /** Maximum delay of the event loop by its own work, in milliseconds; 0: no limit. */
  readonly maxLag: number;
  /** Bytes of heap that the worker may use. */
  readonly heapLimit: number;
  /** Maximum use of the heap in percent of its limit; 0: no limit. */
  readonly maxHeap: number;
  /** Milliseconds that the heap may stay that full before the worker requests its replacement; 0: never. */
  readonly heapTimeout: number;
  /** Called once, with the bytes in use. */
  readonly heapStaysFull: (used: number) => void;
  /** Called with the reason when the worker begins to refuse requests, and with null when it stops. */
  readonly changed: (reason: string | null) => void;
}

/** Milliseconds between two checks. */
const interval = 50;
/** Late checks in a row before requests are refused: one long task, such as applying a large config, is not an overload. */
const patience = 3;
/** How much the fraction of refused requests grows with each late check, and shrinks with each timely one. */
const growth = 0.25;
const decay = 0.05;
/** Milliseconds between two checks of the heap. By time: close to the limit a single check may take seconds. */
const heapInterval = 500;
/** Minimum milliseconds between two collections. */
const minPause = 1000;

/**
 * Detects an overloaded worker, which then refuses a growing fraction of the requests at once, at almost no cost, instead of
 * answering all of them too late. Close to the heap limit it refuses all.
 *
 * Only CPU time of this thread counts as delay. A loop that is late because other programs have the cores has no queue of its
 * own, and to refuse requests would not make it any earlier. If it gets less than its requests need, they pile up, and the CPU
 * time between two checks grows with them.
 */
export class Overload {
  /** Requests are being refused: call `refuse()` for each. */
  active = false;
  readonly #options: OverloadOptions;
  readonly #heapCap: number;
  readonly #timer: NodeJS.Timeout;
  #last = monotonic();
  /** CPU milliseconds of this thread, at `#last`. */
  #used = threadCpuTime();
  #late = 0;
  #heapLookAgain = 0;
  #share = 0;
  #owed = 0;
  #heapFull = false;
  /** Monotonic clock; null: it is not full. */
  #fullSince: number | null = null;
  #reported = false;
  /** Monotonic clock. */
  #collectAgain = 0;

  constructor(options: OverloadOptions) {
    this.#options = options;
    this.#heapCap = (options.heapLimit * options.maxHeap) / 100;
    this.#timer = setInterval(() => this.#look(), interval).unref();
  }

  /** True: answer this request with 503. Spreads refusals evenly over all requests. */
  refuse(): boolean {
    this.#owed += this.#share;
    if (this.#owed < 1) return false;
    this.#owed -= 1;
    return true;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * Most of the heap in use may be garbage, and a worker that refuses everything allocates too little for V8 to collect it. So
   * the heap is collected before its use counts. Collecting a large heap takes long, so there is no other collection between
   * the first and the one that decides whether to replace the worker.
   */
  #isHeapFull(now: number): boolean {
    if (getHeapStatistics().used_heap_size <= this.#heapCap) {
      this.#fullSince = null;
      return false;
    }
    const { heapTimeout, heapStaysFull } = this.#options;
    const overdue = heapTimeout > 0 && this.#fullSince !== null && now - this.#fullSince >= heapTimeout;
    if (!overdue && now < this.#collectAgain) return this.#heapFull;
    const used = this.#collect(now);
    if (used <= this.#heapCap) {
      this.#fullSince = null;
      return false;
    }
    this.#fullSince ??= now;
    if (overdue && !this.#reported) {
      this.#reported = true;
      heapStaysFull(used);
    }
    return true;
  }

  #collect(begun: number): number {
    collectGarbage('regular');
    const ended = monotonic();
    this.#collectAgain = ended + Math.max(minPause, 10 * (ended - begun));
    this.#last = ended;
    this.#used = threadCpuTime();
    return getHeapStatistics().used_heap_size;
  }

  #look(): void {
    const now = monotonic();
    const used = threadCpuTime();
    const lag = Math.min(now - this.#last - interval, used - this.#used);
    this.#last = now;
    this.#used = used;
    const { maxLag, maxHeap } = this.#options;
    const late = maxLag > 0 && lag > maxLag;
    this.#late = late ? this.#late + 1 : 0;
    if (maxHeap > 0 && now >= this.#heapLookAgain) {
      this.#heapFull = this.#isHeapFull(now);
      this.#heapLookAgain = this.#last + heapInterval;
    }
    if (this.#heapFull) this.#share = 1;
    else if (this.#late >= patience) this.#share = Math.min(1, this.#share + growth);
    else if (!late) this.#share = Math.max(0, this.#share - decay);
    const active = this.#share > 0;
    if (active === this.active) return;
    this.active = active;
    if (!active) this.#options.changed(null);
    else
      this.#options.changed(
        this.#heapFull ? 'the heap is nearly full' : `the event loop is ${Math.round(lag)} ms late`,
      );
  }
}
