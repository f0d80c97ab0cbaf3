import { errors } from '../errors.ts';
import { isBodyless } from '../http1/bodyless.ts';
import { headerMap } from '../http1/header-block.ts';
import { type BodyReaders, runHeaderFilter, runResponse } from '../plugin-runner/phases.ts';
import type { Reply } from '../plugin-sdk/reply.ts';
import { ContentCodingError, contentCodings, decodeContent, knowsCodings } from '../util/content-coding.ts';
import type { Exchange } from './exchange.ts';
import { HeaderEdits } from './header-edits.ts';
import type { ProxyOptions } from './options.ts';
import { filteredBody, replyError, replyWith } from './reply.ts';

export interface BufferedResponseParts {
  readonly readers: BodyReaders;
  readonly options: ProxyOptions;
  readonly unexpected: (x: Exchange, error: unknown) => void;
}

/** A backend's answer collected for the `response` phase, up to a bound. */
export class BufferedResponse {
  readonly #parts: BufferedResponseParts;
  readonly #bodiless: boolean;
  readonly #pieces: Buffer[] = [];
  #size = 0;

  /** `bodiless`: the answer cannot have a body. */
  constructor(parts: BufferedResponseParts, bodiless: boolean) {
    this.#parts = parts;
    this.#bodiless = bodiless;
  }

  /** False when the bound is met. The range is copied. */
  push(bytes: Uint8Array, start: number, end: number): boolean {
    this.#size += end - start;
    if (this.#size > this.#parts.readers.limit) return false;
    this.#pieces.push(Buffer.copyBytesFrom(bytes, start, end - start));
    return true;
  }

  /** Runs the phase and sends the answer on, or what a plugin puts in its place. */
  finish(x: Exchange, trailers: string): void {
    const body = Buffer.concat(this.#pieces);
    x.buffered = null;
    const codings = this.#bodiless ? [] : contentCodings(codingFields(x));
    if (codings.length === 0 || !knowsCodings(codings)) {
      this.#run(x, body, trailers);
      return;
    }
    const { unexpected, readers } = this.#parts;
    try {
      const decoded = decodeContent(body, codings, readers.limit);
      if (!(decoded instanceof Promise)) this.#runDecoded(x, decoded, trailers);
      else {
        decoded
          .then(
            (plain) => this.#runDecoded(x, plain, trailers),
            (error) => this.#undecodable(x, error),
          )
          .catch((error) => unexpected(x, error));
      }
    } catch (error) {
      this.#undecodable(x, error);
    }
  }

  #runDecoded(x: Exchange, body: Buffer, trailers: string): void {
    if (x.finished || x.clientAborted) return;
    x.responseEdits ??= new HeaderEdits();
    const edits = x.responseEdits;
    edits.remove('content-encoding');
    // Other bytes than those that the validator is of (RFC 9110 8.8.3.3).
    const etag = edits.value(x.responseBlock, 'etag');
    if (etag?.startsWith('"')) edits.set('ETag', `W/${etag}`);
    this.#run(x, body, trailers);
  }

  #undecodable(x: Exchange, error: unknown): void {
    if (!(error instanceof ContentCodingError)) throw error;
    if (x.finished || x.clientAborted) return;
    replyError(x, error.fault === 'too-large' ? errors.responseTooLarge : errors.badResponse, this.#parts.options);
  }

  #run(x: Exchange, body: Buffer, trailers: string): void {
    const result = runResponse(x, body, this.#parts.readers.instances);
    if (result instanceof Promise) {
      result.then((reply) => this.#send(x, trailers, reply)).catch((error) => this.#parts.unexpected(x, error));
    } else this.#send(x, trailers, result);
  }

  #send(x: Exchange, trailers: string, reply: Reply | undefined): void {
    if (x.finished || x.clientAborted) return;
    if (reply !== undefined) {
      replyWith(x, reply, this.#parts.options);
      return;
    }
    const body = x.context?.response.heldBody ?? new Uint8Array(0);
    if (x.plan.headerFilter.length > 0) runHeaderFilter(x);
    const sent = x.plan.bodyFilter.length === 0 ? body : filteredBody(x, body, headerMap(trailers));
    const kept = x.transform?.keepsTrailers === true || !x.head.trailers;
    // A length that is told leaves no place for trailers.
    const length = kept || trailers === '' ? sent.byteLength : -1;
    // What the answer to a GET would be like after plugins changed it, nobody knows.
    x.downstream.sendHead(x, isBodyless(x.head.method, x.status) ? -1 : length);
    x.downstream.sendBody(x, Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength), 0, sent.byteLength);
    x.downstream.sendEnd(x, kept ? '' : trailers);
  }
}

function codingFields(x: Exchange): readonly string[] {
  return (x.responseEdits ?? new HeaderEdits()).values(x.responseBlock, 'content-encoding');
}
