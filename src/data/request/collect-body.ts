import { BodyMemoryExhausted, RequestBodyTooLarge } from '../../shared/errors.ts';
import { ByteCollector } from '../../shared/util/bytes/byte-collector.ts';
import type { RequestBodySink } from '../http1/body-sink.ts';
import type { Exchange } from './exchange.ts';

/**
 * Collects the request body into the exchange; rejects with `RequestBodyTooLarge` beyond `limit` bytes, and with
 * `BodyMemoryExhausted` when the worker's body memory is used up.
 */
export function collectBody(x: Exchange, limit: number): Promise<Uint8Array> {
  if (x.head.bodyLength > limit) return Promise.reject(new RequestBodyTooLarge());
  x.bodyTaken = true;
  return new Promise((resolve, reject) => x.downstream.startBody(x, new Collector(x, limit, resolve, reject)));
}

class Collector implements RequestBodySink {
  readonly #exchange: Exchange;
  readonly #limit: number;
  readonly #done: (body: Uint8Array) => void;
  readonly #failed: (error: Error) => void;
  readonly #bytes: ByteCollector;
  #over = false;

  constructor(exchange: Exchange, limit: number, done: (body: Uint8Array) => void, failed: (error: Error) => void) {
    this.#exchange = exchange;
    this.#limit = limit;
    this.#done = done;
    this.#failed = failed;
    this.#bytes = new ByteCollector(exchange.head.bodyLength);
  }

  bodyData(bytes: Uint8Array, start: number, end: number): void {
    if (this.#over) return;
    const x = this.#exchange;
    const growth = this.#bytes.growth(end - start);
    if (this.#bytes.size + end - start > this.#limit) this.#stop(new RequestBodyTooLarge());
    else if (growth > 0 && x.peer.bodies?.reserve(x, growth) === false) this.#stop(new BodyMemoryExhausted());
    else this.#bytes.push(bytes, start, end);
  }

  bodyEnd(): void {
    if (this.#over) return;
    const body = this.#bytes.take();
    this.#exchange.requestBody = body;
    this.#done(body);
  }

  #stop(error: Error): void {
    const x = this.#exchange;
    this.#over = true;
    this.#bytes.clear();
    x.peer.bodies?.release(x);
    this.#failed(error);
  }
}
