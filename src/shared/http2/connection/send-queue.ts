import type { Http2Stream } from './stream.ts';

/** Streams that have something to send, in the order of their turns. */
export class SendQueue {
  #first: Http2Stream | null = null;
  #last: Http2Stream | null = null;

  get empty(): boolean {
    return this.#first === null;
  }

  /** Behind all others, unless it waits already. */
  add(stream: Http2Stream): void {
    if (stream.queued) return;
    stream.queued = true;
    stream.queuedNext = null;
    if (this.#last === null) this.#first = stream;
    else this.#last.queuedNext = stream;
    this.#last = stream;
  }

  /** The stream whose turn it is; it waits no longer. Closed ones are passed over. */
  take(): Http2Stream | null {
    for (;;) {
      const stream = this.#first;
      if (stream === null) return null;
      this.#first = stream.queuedNext;
      if (this.#first === null) this.#last = null;
      stream.queued = false;
      stream.queuedNext = null;
      if (!stream.closed) return stream;
    }
  }
}
