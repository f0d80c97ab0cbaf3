import type { RequestBodySink } from './downstream.ts';
import type { Exchange } from './exchange.ts';

/** Collects the request body into the exchange, up to `limit` bytes; then calls back once: null when it is larger. */
export function collectBody(x: Exchange, limit: number, done: (body: Uint8Array | null) => void): void {
  if (x.head.bodyLength > limit) {
    done(null);
    return;
  }
  x.bodyTaken = true;
  x.downstream.startBody(x, new Collector(x, limit, done));
}

class Collector implements RequestBodySink {
  readonly #exchange: Exchange;
  readonly #limit: number;
  readonly #done: (body: Uint8Array | null) => void;
  #pieces: Buffer[] = [];
  #size = 0;
  #over = false;

  constructor(exchange: Exchange, limit: number, done: (body: Uint8Array | null) => void) {
    this.#exchange = exchange;
    this.#limit = limit;
    this.#done = done;
  }

  bodyData(bytes: Uint8Array, start: number, end: number): void {
    if (this.#over) return;
    this.#size += end - start;
    if (this.#size > this.#limit) {
      this.#over = true;
      this.#pieces = [];
      this.#done(null);
    } else this.#pieces.push(Buffer.copyBytesFrom(bytes, start, end - start));
  }

  bodyEnd(): void {
    if (this.#over) return;
    const body = Buffer.concat(this.#pieces);
    this.#exchange.requestBody = body;
    this.#done(body);
  }
}
