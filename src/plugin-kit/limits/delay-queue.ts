/** A request that is delayed. */
export interface Delay {
  /** Resolves after the delay, or once it is cancelled. */
  readonly ended: Promise<undefined>;
  /** Frees the place in the queue: the client has disconnected. Does nothing after the end. */
  cancel(): void;
}

/** Delays requests of one worker, up to a maximum number at the same time. */
export class DelayQueue {
  readonly #places: number;
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get full(): boolean {
    return this.#taken >= this.#places;
  }

  /** Takes a place for this time. Call it only while the queue is not `full`. */
  delay(milliseconds: number): Delay {
    this.#taken++;
    let timer: NodeJS.Timeout | null = null;
    let done = (): void => {};
    const ended = new Promise<undefined>((resolve) => {
      done = () => {
        if (timer === null) return;
        clearTimeout(timer);
        timer = null;
        this.#taken--;
        resolve(undefined);
      };
      timer = setTimeout(done, Math.ceil(milliseconds));
    });
    return { ended, cancel: () => done() };
  }
}
