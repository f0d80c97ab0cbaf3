import type { BodyTransform } from '../../plugin-sdk/response-views.ts';
import { asBuffer } from '../../shared/util/bytes/as-buffer.ts';
import { isBodyless } from '../http1/body-reader.ts';
import { startBodyFilters } from '../plugin-runner/phases.ts';
import type { Exchange } from '../request/exchange.ts';

type Trailers = Readonly<Record<string, readonly string[]>>;

const noTrailers: Trailers = Object.freeze({});
/** Bodies up to this size go through the filters at once, so that their length is known. */
const atOnce = 256 * 1024;
const pieceSize = 64 * 1024;

export interface WholeBodyOptions {
  /** Fields behind the backend's body. */
  readonly trailers?: Trailers;
  /** The length to declare for an answer without a body; -1: none. */
  readonly bodilessLength: number;
  /** Called once the body is sent: ends the answer. */
  readonly end: () => void;
  /** Declares no length. */
  readonly open?: boolean;
}

/**
 * Sends the head and a complete body, through the body filters. A large body is sent in pieces, like one from a backend:
 * no filter blocks the worker's other requests, and the exchange, with the memory that it holds, lasts until a slow client
 * has read it.
 */
export function sendWhole(x: Exchange, body: Uint8Array, options: WholeBodyOptions): void {
  const bodiless = isBodyless(x.head.method, x.status);
  const filters = x.plan.bodyFilter.length > 0;
  if (bodiless || !filters) {
    const length = bodiless ? options.bodilessLength : body.byteLength;
    x.downstream.sendHead(x, options.open === true ? -1 : length);
    if (!bodiless && body.byteLength > atOnce) {
      new Pieces(x, asBuffer(body), null, options).resume();
      return;
    }
    if (!bodiless) x.downstream.sendBody(x, asBuffer(body), 0, body.byteLength);
    options.end();
    return;
  }
  const transform = begun(x);
  if (transform !== undefined && transform !== null && body.byteLength > atOnce) {
    x.downstream.sendHead(x, -1);
    new Pieces(x, asBuffer(body), transform, options).resume();
    return;
  }
  const sent = transform === undefined ? new Uint8Array(0) : through(transform, body, options.trailers ?? noTrailers);
  x.downstream.sendHead(x, options.open === true ? -1 : sent.byteLength);
  x.downstream.sendBody(x, asBuffer(sent), 0, sent.byteLength);
  options.end();
}

/** Sets and returns the transform; undefined when a filter failed, which the runner has logged. */
function begun(x: Exchange): BodyTransform | null | undefined {
  try {
    x.transform = startBodyFilters(x);
    return x.transform;
  } catch {
    return undefined;
  }
}

/** Empty when a filter fails: the client must not receive the body unchanged. */
function through(transform: BodyTransform | null, body: Uint8Array, trailers: Trailers): Uint8Array {
  if (transform === null) return body;
  try {
    return Buffer.concat([transform.chunk(body), transform.end(trailers)].filter((piece) => piece !== null));
  } catch {
    return new Uint8Array(0);
  }
}

/** A large body on its way to the client. */
class Pieces {
  readonly #exchange: Exchange;
  readonly #body: Buffer;
  readonly #transform: BodyTransform | null;
  readonly #options: WholeBodyOptions;
  #at = 0;

  constructor(exchange: Exchange, body: Buffer, transform: BodyTransform | null, options: WholeBodyOptions) {
    this.#exchange = exchange;
    this.#body = body;
    this.#transform = transform;
    this.#options = options;
  }

  /** Sends pieces until the client must read first. */
  resume(): void {
    const x = this.#exchange;
    x.wholeBody = null;
    if (x.finished || x.clientAborted) return;
    try {
      if (this.#at >= this.#body.byteLength) {
        this.#send(this.#transform?.end(this.#options.trailers ?? noTrailers) ?? null);
        this.#options.end();
        return;
      }
      const end = Math.min(this.#at + pieceSize, this.#body.byteLength);
      const part = this.#body.subarray(this.#at, end);
      const piece = this.#transform === null ? part : this.#transform.chunk(part);
      this.#at = end;
      if (this.#send(piece)) setImmediate(() => this.resume());
      else x.wholeBody = this;
    } catch {
      x.downstream.abort(x);
    }
  }

  #send(piece: Uint8Array | null): boolean {
    if (piece === null || piece.byteLength === 0) return true;
    return this.#exchange.downstream.sendBody(this.#exchange, asBuffer(piece), 0, piece.byteLength);
  }
}
