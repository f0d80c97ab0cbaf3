import { getHeapStatistics } from 'node:v8';
import { monotonic } from '../util/clock.ts';
import { collectGarbage } from '../util/collect-at-rest.ts';

export interface OverloadOptions {
  /** Milliseconds by which the event loop may be late; 0: it does not matter. */
  readonly maxLag: number;
  /** Share of the heap's cap that may be in use, in percent; 0: it does not matter. */
  readonly maxHeap: number;
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
/** The heap is looked at with each n-th look. */
const heapEvery = 10;
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
  #looks = 0;
  #share = 0;
  #owed = 0;
  #heapFull = false;
  /** Monotonic clock. */
  #collectAgain = 0;

  constructor(options: OverloadOptions) {
    this.#options = options;
    this.#heapCap = (getHeapStatistics().heap_size_limit * options.maxHeap) / 100;
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
   * it: so it is collected before it counts. That takes long where the heap is large, and is not done again at once.
   */
  #isHeapFull(): boolean {
    if (getHeapStatistics().used_heap_size <= this.#heapCap) return false;
    const begun = monotonic();
    if (begun < this.#collectAgain) return this.#heapFull;
    collectGarbage('regular');
    const ended = monotonic();
    this.#collectAgain = ended + Math.max(leastPause, 10 * (ended - begun));
    this.#last = ended;
    return getHeapStatistics().used_heap_size > this.#heapCap;
  }

  #look(): void {
    const now = monotonic();
    const lag = now - this.#last - interval;
    this.#last = now;
    const { maxLag, maxHeap } = this.#options;
    const late = maxLag > 0 && lag > maxLag;
    this.#late = late ? this.#late + 1 : 0;
    if (maxHeap > 0 && ++this.#looks % heapEvery === 0) this.#heapFull = this.#isHeapFull();
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
