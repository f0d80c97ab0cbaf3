import { getHeapStatistics } from 'node:v8';
import { monotonic } from '../util/clock.ts';
import { collectGarbage } from '../util/collect-at-rest.ts';

export interface OverloadOptions {
  /** Milliseconds by which the event loop may be late; 0: it does not matter. */
  readonly maxLag: number;
  /** Bytes of heap that the worker may use. */
  readonly heapLimit: number;
  /** Share of the heap's cap that may be in use, in percent; 0: it does not matter. */
  readonly maxHeap: number;
  /** Milliseconds that the heap may stay that full before the worker asks to be replaced; 0: never. */
  readonly heapTimeout: number;
  /** Called once, with the bytes in use. */
  readonly heapStaysFull: (used: number) => void;
  /** Told when the worker begins to refuse, with the reason, and when it no longer does (null). */
  readonly changed: (reason: string | null) => void;
}

/** Milliseconds between two looks. */
const interval = 50;
/** Late looks in a row before anything is refused: one long task, such as taking over a large config, is no overload. */
const patience = 3;
/** How much the share of refused requests grows with each late look, and how much it shrinks with each good one. */
const growth = 0.25;
const decay = 0.05;
/** Milliseconds between two checks of the heap. By time: close to the limit a single check may take seconds. */
const heapInterval = 500;
/** Milliseconds between two collections at least. */
const leastPause = 1000;

/**
 * Tells when a worker has more to do than it can: then it refuses a growing share of the requests at once, which costs
 * next to nothing, rather than answering all of them too late. Close to the heap's cap it refuses all.
 */
export class Overload {
  /** Something is refused now: ask `refuse()` for each request. */
  active = false;
  readonly #options: OverloadOptions;
  readonly #heapCap: number;
  readonly #timer: NodeJS.Timeout;
  #last = monotonic();
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
   * What is in use may be garbage for the most part, and a worker that refuses everything makes none that would let V8 collect
   * it, so it is collected before it counts. A collection of a large heap takes long, so between the first collection and
   * the one that decides whether to replace the worker there is no other.
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
    this.#collectAgain = ended + Math.max(leastPause, 10 * (ended - begun));
    this.#last = ended;
    return getHeapStatistics().used_heap_size;
  }

  #look(): void {
    const now = monotonic();
    const lag = now - this.#last - interval;
    this.#last = now;
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
