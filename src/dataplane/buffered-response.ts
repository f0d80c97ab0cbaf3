import { isBodyless } from '../http1/bodyless.ts';
import { headerMap } from '../http1/header-block.ts';
import { runHeaderFilter, runResponse } from '../plugin-runner/phases.ts';
import type { Reply } from '../plugin-sdk/reply.ts';
import type { Exchange } from './exchange.ts';
import type { ProxyOptions } from './options.ts';
import { filteredBody, replyWith } from './reply.ts';

/** A backend's answer collected for the `response` phase, up to a bound. */
export class BufferedResponse {
  readonly #limit: number;
  readonly #bodylessLength: number | null;
  readonly #pieces: Buffer[] = [];
  #size = 0;

  /** `bodylessLength`: what an answer without a body tells of its length, -1 for nothing; null when there is a body. */
  constructor(limit: number, bodylessLength: number | null) {
    this.#limit = limit;
    this.#bodylessLength = bodylessLength;
  }

  /** False when the bound is met. The range is copied. */
  push(bytes: Uint8Array, start: number, end: number): boolean {
    this.#size += end - start;
    if (this.#size > this.#limit) return false;
    this.#pieces.push(Buffer.copyBytesFrom(bytes, start, end - start));
    return true;
  }

  /** Runs the phase and sends the answer on, or what a plugin puts in its place. */
  finish(
    x: Exchange,
    trailers: string,
    options: ProxyOptions,
    unexpected: (x: Exchange, error: unknown) => void,
  ): void {
    const body = Buffer.concat(this.#pieces);
    x.buffered = null;
    const result = runResponse(x, body);
    if (result instanceof Promise) {
      result.then((reply) => this.#send(x, body, trailers, reply, options)).catch((error) => unexpected(x, error));
    } else this.#send(x, body, trailers, result, options);
  }

  #send(x: Exchange, body: Buffer, trailers: string, reply: Reply | undefined, options: ProxyOptions): void {
    if (x.finished || x.clientAborted) return;
    if (reply !== undefined) {
      replyWith(x, reply, options);
      return;
    }
    if (x.plan.headerFilter.length > 0) runHeaderFilter(x);
    const sent = x.plan.bodyFilter.length === 0 ? body : filteredBody(x, body, headerMap(trailers));
    const kept = x.transform?.keepsTrailers === true || !x.head.trailers;
    // A length that is told leaves no place for trailers.
    const length = kept || trailers === '' ? sent.byteLength : -1;
    const bodyless = this.#bodylessLength !== null && isBodyless(x.head.method, x.status);
    x.downstream.sendHead(x, bodyless ? (this.#bodylessLength ?? -1) : length);
    x.downstream.sendBody(x, sent, 0, sent.byteLength);
    x.downstream.sendEnd(x, kept ? '' : trailers);
  }
}
