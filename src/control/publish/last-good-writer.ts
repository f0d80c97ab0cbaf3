export interface LastGoodWriterOptions {
  /** Writes the current state. */
  readonly write: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  /**
   * Minimum milliseconds from a change to its write, and thus between two writes. Default 1000. A write that takes long, as of a large
   * config, is followed by a pause of several times its duration.
   */
  readonly delay?: number;
}

/** Minimum pause after a write, compared with its duration. */
const restFactor = 5;

/** Keeps a last-good file up to date: many changes in a row need one write. */
export class LastGoodWriter {
  readonly #options: LastGoodWriterOptions;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #changed = false;
  /** Milliseconds. */
  #lastDuration = 0;

  constructor(options: LastGoodWriterOptions) {
    this.#options = options;
  }

  changed(): void {
    this.#changed = true;
    const delay = Math.max(this.#options.delay ?? 1000, this.#lastDuration * restFactor);
    this.#timer ??= setTimeout(() => void this.flush(), delay).unref();
  }

  /** Writes pending changes. Never rejects. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#writing;
    if (!this.#changed) return;
    this.#changed = false;
    const began = performance.now();
    this.#writing = this.#options.write().catch(this.#options.onError);
    await this.#writing;
    this.#lastDuration = performance.now() - began;
    this.#writing = null;
  }
}
