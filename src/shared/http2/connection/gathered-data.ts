import { writeBuffer, writeBufferSize } from '../../util/bytes/write-copy.ts';
import { type Flushable, flushLater } from '../../util/time/flush-later.ts';
import type { Http2Stream } from './stream.ts';

const none: Uint8Array = new Uint8Array(0);

/** Takes data of one of its streams; the range is valid during the call. */
interface DataTaker {
  takeData(stream: Http2Stream, bytes: Uint8Array, size: number): void;
}

/**
 * Data of one stream that was read and not passed on yet. Frames of a stream tend to follow each other, in a read and over several:
 * TLS passes on each record by itself. Their data is passed on, and sent to the backend, as one piece.
 */
class GatheredData implements Flushable {
  #taker: DataTaker | null = null;
  #stream: Http2Stream | null = null;
  #bytes: Uint8Array = none;
  #size = 0;
  /** It will be passed on at the end of the turn. */
  scheduled = false;

  /** Copies the range. Passes on what it has before, if that is of another stream or there is no room. */
  add(taker: DataTaker, stream: Http2Stream, bytes: Uint8Array, start: number, end: number): void {
    const size = end - start;
    if (this.#stream !== stream || this.#size + size > writeBufferSize) {
      this.passOn();
      this.#taker = taker;
      this.#stream = stream;
      this.#bytes = writeBuffer();
    }
    this.#bytes.set(bytes.subarray(start, end), this.#size);
    this.#size += size;
  }

  passOn(): void {
    const taker = this.#taker;
    const stream = this.#stream;
    if (taker === null || stream === null) return;
    const bytes = this.#bytes;
    const size = this.#size;
    this.#taker = null;
    this.#stream = null;
    this.#bytes = none;
    this.#size = 0;
    taker.takeData(stream, bytes, size);
  }

  /** Passes on when the reads that are ready now are done. */
  passOnLater(): void {
    if (this.scheduled || this.#stream === null) return;
    this.scheduled = true;
    flushLater(this);
  }

  flush(): void {
    this.scheduled = false;
    this.passOn();
  }
}

/** One for the worker: however many connections there are, at most one buffer waits. */
export const gathered: GatheredData = new GatheredData();
