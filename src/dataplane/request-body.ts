import type { UpstreamLink } from '../upstream/upstream-link.ts';
import { ByteCollector } from '../util/byte-collector.ts';
import { monotonic } from '../util/clock.ts';
import type { RequestBodySink } from './downstream.ts';
import type { Exchange } from './exchange.ts';

/** What has been sent is kept up to here, so that it can be sent again to another target. */
const maxKeptBytes = 65_536;

/** A request body between the client and whichever connection carries it now. */
export class RequestBody implements RequestBodySink {
  link: UpstreamLink | null = null;
  started = false;
  /** When its last byte came, on the monotonic clock; 0: not yet. */
  completeMono = 0;
  readonly #kept = new ByteCollector();
  #reserved = 0;
  #lost = false;
  #trailers = '';
  readonly #exchange: Pick<Exchange, 'requestEdits' | 'peer'>;

  constructor(exchange: Pick<Exchange, 'requestEdits' | 'peer'>) {
    this.#exchange = exchange;
  }

  /** False once more has been sent than is kept. */
  get replayable(): boolean {
    return !this.#lost;
  }

  bodyData(bytes: Uint8Array, start: number, end: number): void {
    if (!this.#lost) {
      if (this.#hasRoom(end - start)) this.#kept.push(bytes, start, end);
      else this.forget();
    }
    this.link?.bodyData(bytes, start, end);
  }

  /** It will not be sent again. */
  forget(): void {
    this.#lost = true;
    this.#kept.clear();
    if (this.#reserved > 0) this.#exchange.peer.bodies?.releaseSpare(this.#reserved);
    this.#reserved = 0;
  }

  bodyEnd(trailers: string): void {
    this.completeMono = monotonic();
    this.#trailers = trailers;
    this.link?.bodyEnd(this.#allowed());
  }

  /** Sends through `link` from here on, what is kept first. */
  attach(link: UpstreamLink): void {
    this.link = link;
    for (const piece of this.#kept.pieces()) link.bodyData(piece, 0, piece.byteLength);
    if (this.completeMono > 0) link.bodyEnd(this.#allowed());
  }

  #hasRoom(bytes: number): boolean {
    if (this.#kept.size + bytes > maxKeptBytes) return false;
    const growth = this.#kept.growth(bytes);
    if (growth === 0) return true;
    if (this.#exchange.peer.bodies?.reserveSpare(growth) === false) return false;
    this.#reserved += growth;
    return true;
  }

  /** What plugins took out of the head, or said themselves, does not come back behind the body. */
  #allowed(): string {
    if (this.#trailers === '') return '';
    return this.#exchange.requestEdits?.keptOf(this.#trailers) ?? this.#trailers;
  }
}
