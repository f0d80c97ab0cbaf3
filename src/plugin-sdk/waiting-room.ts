/** A request that waits for its turn. */
export interface Turn {
  /** Resolves when it is the request's turn, or when it has left. */
  readonly come: Promise<undefined>;
  /** The client has gone: the place is free for another one. Does nothing once the turn has come. */
  leave(): void;
}

/** Requests that wait in one worker; so many at a time. */
export class WaitingRoom {
  readonly #places: number;
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get full(): boolean {
    return this.#taken >= this.#places;
  }

  /** Waits for so many milliseconds. */
  enter(milliseconds: number): Turn {
    this.#taken++;
    let timer: NodeJS.Timeout | null = null;
    let done = (): void => {};
    const come = new Promise<undefined>((resolve) => {
      done = () => {
        if (timer === null) return;
        clearTimeout(timer);
        timer = null;
        this.#taken--;
        resolve(undefined);
      };
      timer = setTimeout(done, Math.ceil(milliseconds));
    });
    return { come, leave: () => done() };
  }
}
