import { isBodyless } from '../../http1/body-reader.ts';
import type { RequestBodySink } from '../../http1/body-sink.ts';
import type { Downstream, Exchange } from '../../request/exchange.ts';
import { WrappedDownstream } from '../../request/wrapped-downstream.ts';
import { BodyCopy, type CopyMemory } from './body-copy.ts';

/** Copies the beginning of both bodies of an exchange as they pass by. Nothing waits for it, and nothing is held because of it. */
export class CopyingDownstream extends WrappedDownstream {
  /** When the request began, on the monotonic clock. */
  readonly startedMono: number;
  /** Null: no body was read, or sent. */
  request: BodyCopy | null = null;
  response: BodyCopy | null = null;
  readonly #limit: number;
  readonly #memory: CopyMemory;
  #released = false;

  constructor(client: Downstream, startedMono: number, limit: number, memory: CopyMemory) {
    super(client);
    this.startedMono = startedMono;
    this.#limit = limit;
    this.#memory = memory;
  }

  override startBody(x: Exchange, sink: RequestBodySink): void {
    if (x.head.bodyLength === 0) {
      this.client.startBody(x, sink);
      return;
    }
    const copy = this.#newCopy();
    this.request = copy;
    this.client.startBody(x, {
      bodyData(bytes, start, end) {
        copy.push(bytes, start, end);
        sink.bodyData(bytes, start, end);
      },
      bodyEnd(trailers) {
        copy.complete = true;
        sink.bodyEnd(trailers);
      },
    });
  }

  override sendHead(x: Exchange, bodyLength: number): void {
    // What follows a 101 is no body.
    const hasBody = bodyLength !== 0 && x.status !== 101 && !isBodyless(x.head.method, x.status);
    this.response = hasBody ? this.#newCopy() : null;
    this.client.sendHead(x, bodyLength);
  }

  override sendBody(x: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    if (end > start) this.response?.push(bytes, start, end);
    return this.client.sendBody(x, bytes, start, end);
  }

  override sendEnd(x: Exchange, trailers: string): void {
    // Before the call: it ends the exchange, whose record is made then.
    if (this.response !== null) this.response.complete = true;
    this.client.sendEnd(x, trailers);
  }

  /** Gives the copies up; bodies that still pass by are only counted. */
  release(): void {
    this.#released = true;
    this.request?.release();
    this.response?.release();
  }

  #newCopy(): BodyCopy {
    const copy = new BodyCopy(this.#limit, this.#memory);
    if (this.#released) copy.release();
    return copy;
  }
}
