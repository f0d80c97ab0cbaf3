import type { ServerHttp2Stream } from 'node:http2';
import { MinimumRate } from '../../shared/util/bytes/minimum-rate.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import type { RequestBodySink } from '../http1/body-sink.ts';
import { keepTrailers } from '../http1/chunk-decoder.ts';
import { fieldLines, token } from '../http1/grammar.ts';

/** Receives the events of a request body. */
export interface BodyOwner {
  /** Bytes of the body arrived. */
  bodyReceived(bytes: number): void;
  /** Longer than allowed; nothing of the excess was passed on. */
  bodyTooLarge(): void;
  /** The trailers are malformed, or the body is not as long as declared. */
  bodyBroken(): void;
  /** No byte arrived within the timeout. */
  bodyTimedOut(): void;
  /** The body arrives below the minimum rate. */
  bodyTooSlow(): void;
  unexpected(error: unknown): void;
}

const maxTrailerBytes = 8192;

/**
 * Reads the request body of one stream. Nothing is read before `start`: until then the client can only fill its window.
 */
export class StreamBody {
  complete = false;
  readonly #stream: ServerHttp2Stream;
  readonly #owner: BodyOwner;
  readonly #timeout: number;
  readonly #rate: MinimumRate;
  #sink: RequestBodySink | null = null;
  #left: number;
  /** Bytes still to come of a body with a declared length; -1 without one. */
  #declared = -1;
  #tunnel = false;
  #trailers = '';
  #broken = false;
  readonly #deadline: Deadline;

  /**
   * `limit`: maximum bytes of a body without a declared length. `timeout`: milliseconds between two reads. `minRate`:
   * bytes per second.
   */
  constructor(stream: ServerHttp2Stream, owner: BodyOwner, limit: number, timeout: number, minRate: number) {
    this.#stream = stream;
    this.#owner = owner;
    this.#left = limit;
    this.#timeout = timeout;
    this.#rate = new MinimumRate(minRate, timeout);
    this.#deadline = new Deadline(() => owner.bodyTimedOut());
    // Trailers may arrive before the body is read, and are reported only once.
    stream.on('trailers', (_fields: unknown, _flags: number, list: readonly string[]) => this.#readTrailers(list));
  }

  /**
   * Node's HTTP/2 also resets a stream for a wrong length. This is a second check, because HTTP/1.1 to a backend
   * depends on it.
   */
  declare(length: number): void {
    this.#declared = length;
    this.#left = Number.POSITIVE_INFINITY;
  }

  /** `tunnel`: the bytes have no end to wait for, and no limit. */
  start(sink: RequestBodySink, tunnel: boolean): void {
    this.#sink = sink;
    this.#tunnel = tunnel;
    if (tunnel) this.declare(-1);
    const stream = this.#stream;
    stream.on('end', () => this.#guarded(() => this.#end()));
    stream.on('data', (piece: Buffer) => this.#guarded(() => this.#data(piece)));
    stream.resume();
    this.#rate.begin(monotonic());
    this.#wait();
  }

  limit(bytes: number): void {
    if (this.#declared < 0) this.#left = Math.min(this.#left, bytes);
  }

  pause(): void {
    this.#deadline.clear();
    this.#stream.pause();
  }

  resume(): void {
    if (this.#sink === null) return;
    this.#rate.begin(monotonic());
    this.#wait();
    this.#stream.resume();
  }

  /** Nothing more is passed on. */
  stop(): void {
    this.#sink = null;
    this.#deadline.clear();
  }

  #wait(): void {
    if (!this.#tunnel && !this.complete) this.#deadline.set(this.#timeout, monotonic());
  }

  #data(piece: Buffer): void {
    const sink = this.#sink;
    if (sink === null) return;
    const size = piece.byteLength;
    if (this.#declared >= 0) {
      this.#declared -= size;
      if (this.#declared < 0) {
        this.stop();
        this.#owner.bodyBroken();
        return;
      }
    }
    this.#left -= size;
    if (this.#left < 0) {
      this.stop();
      this.#owner.bodyTooLarge();
      return;
    }
    this.#owner.bodyReceived(size);
    this.#wait();
    sink.bodyData(piece, 0, size);
    // The sink may have paused the stream.
    if (this.#stream.isPaused()) this.#deadline.clear();
    else if (!this.#tunnel && this.#rate.isTooSlow(size, monotonic())) this.#owner.bodyTooSlow();
  }

  #readTrailers(list: readonly string[]): void {
    let text = '';
    let count = 0;
    for (let at = 0; at < list.length; at += 2) {
      if (!token.test(list[at] as string)) this.#broken = true;
      text += `${list[at]}: ${list[at + 1]}\r\n`;
      count++;
    }
    fieldLines.lastIndex = 0;
    const whole = `${text}\r\n`;
    if (!fieldLines.test(whole) || fieldLines.lastIndex !== whole.length || text.length > maxTrailerBytes)
      this.#broken = true;
    else if (whole.split('\r\n').length !== count + 2) this.#broken = true;
    else this.#trailers = keepTrailers(text);
  }

  #end(): void {
    // Node ends a stream that was reset without an error as if it were complete; `aborted` tells the two apart.
    if (this.#stream.aborted) return;
    this.complete = true;
    const sink = this.#sink;
    this.stop();
    if (sink === null) return;
    if (this.#broken || this.#declared > 0) this.#owner.bodyBroken();
    else sink.bodyEnd(this.#trailers);
  }

  /** For events of Node, above which no caller would catch an exception. */
  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#owner.unexpected(error);
    }
  }
}
