export interface LastGoodWriterOptions {
  /** Writes the current state. */
  readonly write: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Milliseconds from a change to its write, and thus between two writes. Default 1000. */
  readonly delay?: number;
}

/** Keeps a last-good file up to date: many changes in a row need one write. */
export class LastGoodWriter {
  readonly #options: LastGoodWriterOptions;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #changed = false;

  constructor(options: LastGoodWriterOptions) {
    this.#options = options;
  }

  changed(): void {
    this.#changed = true;
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.delay ?? 1000).unref();
  }

  /** Writes pending changes. Never rejects. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#writing;
    if (!this.#changed) return;
    this.#changed = false;
    this.#writing = this.#options.write().catch(this.#options.onError);
    await this.#writing;
    this.#writing = null;
  }
}
