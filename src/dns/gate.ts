/** Lets so many through at once; the others wait in the order in which they came. */
export class Gate {
  readonly #most: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside++;
    try {
      return await work();
    } finally {
      // The place passes on to the next one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }
}
