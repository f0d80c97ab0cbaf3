import { ByteCollector } from '../../shared/util/bytes/byte-collector.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { Exchange, ForwardedBody, UpstreamLink } from './exchange.ts';

/** Bytes that are kept after they were sent, so that they can be sent again to another target. */
const maxKeptBytes = 65_536;

/** A request body between the client and whichever connection carries it now. */
export class RequestBody implements ForwardedBody {
  #link: UpstreamLink | null = null;
  #started = false;
  /** When its last byte arrived, on the monotonic clock; 0: not yet. */
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
      else this.discard();
    }
    this.#link?.bodyData(bytes, start, end);
  }

  /** Discards what is kept: the body will not be sent again. */
  discard(): void {
    this.#lost = true;
    this.#kept.clear();
    if (this.#reserved > 0) this.#exchange.peer.bodies?.releaseSpare(this.#reserved);
    this.#reserved = 0;
  }

  bodyEnd(trailers: string): void {
    this.completeMono = monotonic();
    this.#trailers = trailers;
    this.#link?.bodyEnd(this.#allowed());
  }

  /** Sends on `link` from now on, what is kept first. */
  sendTo(link: UpstreamLink, x: Exchange): void {
    this.#attach(link);
    if (this.#started) {
      x.downstream.resumeBody(x);
      return;
    }
    this.#started = true;
    x.downstream.startBody(x, this);
  }

  /** Its link is closed. Pauses the client until there is another: more would arrive than is kept. */
  detach(x: Exchange): void {
    this.#link = null;
    if (this.#started) x.downstream.pauseBody(x);
  }

  #attach(link: UpstreamLink): void {
    this.#link = link;
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

  /** Without the fields that plugins removed from the head or set themselves. */
  #allowed(): string {
    if (this.#trailers === '') return '';
    return this.#exchange.requestEdits?.keptOf(this.#trailers) ?? this.#trailers;
  }
}
