/** Requests of one instance that a worker lets wait at most: each of them holds a connection. */
const mostWaiting = 10_000;

/** Requests that wait for their turn. */
export class DelayedRequests {
  #waiting = 0;

  /** Resolves after so many milliseconds; null: too many wait already. */
  wait(milliseconds: number): Promise<undefined> | null {
    if (this.#waiting >= mostWaiting) return null;
    this.#waiting++;
    return new Promise((resolve) => {
      setTimeout(() => {
        this.#waiting--;
        resolve(undefined);
      }, milliseconds);
    });
  }
}
