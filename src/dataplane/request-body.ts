import type { UpstreamLink } from '../upstream/upstream-link.ts';
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
  #kept: Uint8Array[] = [];
  #keptSize = 0;
  #lost = false;
  #trailers = '';
  readonly #exchange: Pick<Exchange, 'requestEdits'>;

  constructor(exchange: Pick<Exchange, 'requestEdits'>) {
    this.#exchange = exchange;
  }

  /** False once more has been sent than is kept. */
  get replayable(): boolean {
    return !this.#lost;
  }

  bodyData(bytes: Uint8Array, start: number, end: number): void {
    if (!this.#lost) {
      this.#keptSize += end - start;
      if (this.#keptSize > maxKeptBytes) {
        this.#lost = true;
        this.#kept = [];
      } else this.#kept.push(Buffer.copyBytesFrom(bytes, start, end - start));
    }
    this.link?.bodyData(bytes, start, end);
  }

  /** It will not be sent again. */
  forget(): void {
    this.#lost = true;
    this.#kept = [];
  }

  bodyEnd(trailers: string): void {
    this.completeMono = monotonic();
    this.#trailers = trailers;
    this.link?.bodyEnd(this.#allowed());
  }

  /** Sends through `link` from here on, what is kept first. */
  attach(link: UpstreamLink): void {
    this.link = link;
    for (const piece of this.#kept) link.bodyData(piece, 0, piece.byteLength);
    if (this.completeMono > 0) link.bodyEnd(this.#allowed());
  }

  /** What plugins took out of the head, or said themselves, does not come back behind the body. */
  #allowed(): string {
    if (this.#trailers === '') return '';
    return this.#exchange.requestEdits?.keptOf(this.#trailers) ?? this.#trailers;
  }
}
