import type { FeedPosition } from '../store/store.ts';
import type { NodeConfigReport } from './node-report.ts';

export interface ConfigStateOptions {
  /** The head of the store. Rejects while it is unavailable. Null: nothing but this process can write it. */
  readonly head: (() => Promise<FeedPosition>) | null;
  /** What the workers have been sent; null: they have no config yet. */
  readonly sent: () => FeedPosition | null;
  /** Whether every worker has applied what was sent, and nothing is due. */
  readonly applied: () => boolean;
  readonly failures: () => number;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** What config the workers of this node have, and when the node last knew that it is the latest. */
export class ConfigState {
  readonly #options: ConfigStateOptions;
  readonly #now: () => number;
  #reached: FeedPosition | null = null;
  #currentAt = 0;

  constructor(options: ConfigStateOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Compares with the head of the store. Never rejects: while the store is unavailable, the config grows older. */
  async check(): Promise<void> {
    const { head } = this.#options;
    const before = this.#now();
    if (head === null) {
      this.#noteReached(before);
      return;
    }
    const latest = await head().catch(() => null);
    const reached = this.#noteReached(before);
    if (latest === null || reached === null || latest.store !== reached.store) return;
    if (reached.version >= latest.version) this.#currentAt = before;
  }

  /** Milliseconds since the node last knew that it has everything; null: it never did. */
  age(): number | null {
    const now = this.#now();
    if (this.#options.head === null && this.#noteReached(now) === null) return null;
    return this.#currentAt === 0 ? null : Math.max(0, now - this.#currentAt);
  }

  /** Null: the workers have no config yet. */
  report(): NodeConfigReport | null {
    const reached = this.#noteReached(this.#now());
    if (reached === null) return null;
    const { store, version } = reached;
    return { store, version, currentAt: this.#currentAt, failures: this.#options.failures() };
  }

  #noteReached(now: number): FeedPosition | null {
    const { head, sent, applied } = this.#options;
    if (applied()) {
      this.#reached = sent();
      // The only writer sends what it writes.
      if (head === null && this.#reached !== null) this.#currentAt = now;
    }
    return this.#reached;
  }
}
