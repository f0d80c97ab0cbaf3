import { HttpError } from '../http/http-error.ts';

/** Seconds after which a client may try again. */
const retryAfter = 1;

/** Lets one request at a time read and carry out a whole config: each takes memory for the document, the rows and the plan. */
export class ApplyGate {
  #receiving = false;
  #running = 0;

  /** Before a body is read. Returns what to call when the request has ended. Throws a 429 while another one is busy. */
  readonly admit = (): (() => void) => {
    if (this.#receiving || this.#running > 0) throw busy();
    this.#receiving = true;
    return () => {
      this.#receiving = false;
    };
  };

  /** The work of a request; it goes on when the client has disconnected. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
    }
  }
}

function busy(): HttpError {
  return new HttpError(
    429,
    { message: 'another config is being applied or compared' },
    { 'Retry-After': String(retryAfter) },
  );
}
