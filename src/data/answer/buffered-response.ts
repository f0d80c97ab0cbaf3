import type { Reply } from '../../plugin-sdk/reply.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { headerMap } from '../../shared/http/header-block.ts';
import { ByteCollector } from '../../shared/util/bytes/byte-collector.ts';
import {
  ContentCodingError,
  contentCodings,
  decodeContent,
  supportsCodings,
} from '../../shared/util/bytes/content-coding.ts';
import { type BodyReaders, runHeaderFilter, runResponse } from '../plugin-runner/phases.ts';
import type { CollectedAnswer, Exchange } from '../request/exchange.ts';
import type { ProxyOptions } from '../request/options.ts';
import { answerError, answerReply } from './gateway-answer.ts';
import { HeaderEdits } from './header-edits.ts';
import { sendWhole } from './whole-body.ts';

export interface BufferedResponseParts {
  readonly readers: BodyReaders;
  readonly options: ProxyOptions;
  readonly unexpected: (x: Exchange, error: unknown) => void;
  /** Answers with an error because the backend's answer cannot be used. Default: answers, and records nothing. */
  readonly unusable?: (error: ErrorEntry) => void;
}

/** A backend's answer, collected for the `response` phase up to a limit. */
export class BufferedResponse implements CollectedAnswer {
  readonly #parts: BufferedResponseParts;
  readonly #bodiless: boolean;
  readonly #bytes = new ByteCollector();

  /** `bodiless`: the answer cannot have a body. */
  constructor(parts: BufferedResponseParts, bodiless: boolean) {
    this.#parts = parts;
    this.#bodiless = bodiless;
  }

  /** Copies the range. Returns why that is not possible, else null. */
  push(x: Exchange, bytes: Uint8Array, start: number, end: number): ErrorEntry | null {
    if (this.#bytes.size + end - start > this.#parts.readers.limit) return errors.responseTooLarge;
    const growth = this.#bytes.growth(end - start);
    if (growth > 0 && x.peer.bodies?.reserve(x, growth) === false) return errors.overloaded;
    this.#bytes.push(bytes, start, end);
    return null;
  }

  /** Runs the phase, then sends the answer, or the reply of a plugin instead. */
  finish(x: Exchange, trailers: string): void {
    const body = this.#bytes.take();
    x.buffered = null;
    const codings = this.#bodiless ? [] : contentCodings(codingFields(x));
    if (codings.length === 0 || !supportsCodings(codings)) {
      this.#run(x, body, trailers);
      return;
    }
    const { unexpected, readers } = this.#parts;
    try {
      const decoded = decodeContent(body, codings, readers.limit, x.clientIp);
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
    if (x.peer.bodies?.reserve(x, body.byteLength) === false) {
      this.#unusable(x, errors.overloaded);
      return;
    }
    x.responseEdits ??= new HeaderEdits();
    const edits = x.responseEdits;
    edits.remove('content-encoding');
    // The validator is of other bytes (RFC 9110 8.8.3.3).
    const etag = edits.value(x.responseBlock, 'etag');
    if (etag?.startsWith('"')) edits.set('ETag', `W/${etag}`);
    this.#run(x, body, trailers);
  }

  #undecodable(x: Exchange, error: unknown): void {
    if (!(error instanceof ContentCodingError)) throw error;
    if (x.finished || x.clientAborted) return;
    if (error.fault === 'overloaded') this.#unusable(x, errors.overloaded);
    else this.#unusable(x, error.fault === 'too-large' ? errors.responseTooLarge : errors.badResponse);
  }

  #unusable(x: Exchange, reason: ErrorEntry): void {
    if (this.#parts.unusable === undefined) answerError(x, reason, this.#parts.options);
    else this.#parts.unusable(reason);
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
      answerReply(x, reply, this.#parts.options);
      return;
    }
    const body = x.context?.response.heldBody ?? noBody;
    x.responseLength = this.#bodiless ? -1 : body.byteLength;
    if (x.plan.headerFilter.length > 0) runHeaderFilter(x);
    sendWhole(x, body, {
      trailers: trailers === '' ? noTrailers : headerMap(trailers),
      // The length of the answer to a GET, changed by plugins, is unknown.
      bodilessLength: -1,
      // A declared length leaves no room for trailers.
      open: trailers !== '' && x.head.trailers,
      end: () => x.downstream.sendEnd(x, x.transform?.keepsTrailers === true || !x.head.trailers ? '' : trailers),
    });
  }
}

const noBody = new Uint8Array(0);
const noTrailers: Readonly<Record<string, readonly string[]>> = Object.freeze({});

function codingFields(x: Exchange): readonly string[] {
  return (x.responseEdits ?? new HeaderEdits()).values(x.responseBlock, 'content-encoding');
}
