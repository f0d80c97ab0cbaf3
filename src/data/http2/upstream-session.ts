import type { Socket } from 'node:net';
import { ClosedBy } from '../../shared/http2/connection/closed-streams.ts';
import { Http2Connection } from '../../shared/http2/connection/connection.ts';
import { headBlock } from '../../shared/http2/connection/connection-sender.ts';
import type { Http2Stream } from '../../shared/http2/connection/stream.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import type { ResponseListener } from '../upstream/upstream-link.ts';
import { type StreamHost, UpstreamStream } from './upstream-stream.ts';

export interface SessionLimits {
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
  /** Requests on one session before it is closed. */
  readonly maxRequests: number;
  /** Milliseconds that a session without requests is kept; 0: no limit. */
  readonly idleTimeout: number;
}

/** Receives the events of a session. */
export interface SessionOwner {
  readonly listener: ResponseListener;
  /** The backend has announced how many streams it allows. */
  ready(session: UpstreamSession): void;
  /** A stream has ended, so that there may be capacity for another. */
  freed(session: UpstreamSession): void;
  closed(session: UpstreamSession): void;
}

/** Maximum streams on one session, however many the backend allows. */
const maxStreams = 1_000;
/** Bytes of all responses that may be in transit; a single stream is bounded by its own window. */
const sessionWindow = 1_048_576;
/** Milliseconds in which a header block that has begun must be complete. */
const headTimeout = 60_000;

/** A connection to a backend that speaks HTTP/2, and the requests on it. */
export class UpstreamSession extends Http2Connection implements StreamHost {
  readonly listener: ResponseListener;
  readonly maxHeaderCount: number;
  readonly #scheme: 'http' | 'https';
  readonly #owner: SessionOwner;
  readonly #limits: SessionLimits;
  readonly #idle: Deadline;
  /** Streams that the backend allows at once; 0 until it has announced it. */
  #maxStreams = 0;
  #announced = false;
  /** Reserved or open. */
  #streams = 0;
  #opened = 0;
  #draining = false;
  #receivedAt = 0;
  /** Streams that got a part of their answer in the current read. */
  readonly #active: UpstreamStream[] = [];

  /** `socket` is connected; `scheme` says whether it is TLS. */
  constructor(socket: Socket, scheme: 'http' | 'https', limits: SessionLimits, owner: SessionOwner) {
    super(socket, {
      server: false,
      settings: [],
      window: sessionWindow,
      maxHeaderListSize: limits.maxHeadSize,
      maxHeaderCount: limits.maxHeaderCount + 1,
      headTimeout,
      // Each request has its own timeout.
      sendTimeout: 0,
    });
    this.listener = owner.listener;
    this.maxHeaderCount = limits.maxHeaderCount;
    this.#scheme = scheme;
    this.#limits = limits;
    this.#owner = owner;
    this.#idle = new Deadline(() => this.destroy());
    this.begin();
  }

  /** How many more streams can be opened. */
  get capacity(): number {
    return this.draining ? 0 : this.#maxStreams - this.#streams;
  }

  get idle(): boolean {
    return this.#streams === 0;
  }

  get used(): boolean {
    return this.#opened > 1;
  }

  get draining(): boolean {
    return this.#draining || this.finishing || this.socket.destroyed;
  }

  /** Reserves a stream for a request. There must be capacity. */
  reserve(): UpstreamStream {
    this.#idle.clear();
    this.#streams++;
    this.#opened++;
    const stream = new UpstreamStream(this);
    if (this.#opened >= this.#limits.maxRequests || this.exhausted) this.#drain();
    return stream;
  }

  /** Closes the session with all its streams. */
  destroy(): void {
    this.#draining = true;
    this.socket.destroy();
  }

  // StreamHost

  sendRequest(stream: UpstreamStream, head: string, endStream: boolean): boolean {
    if (this.finishing || this.socket.destroyed) return false;
    this.open(stream);
    headBlock.length = 0;
    this.encoder.request(headBlock, head, this.#scheme);
    this.sendHeaders(stream, endStream);
    return true;
  }

  answering(stream: UpstreamStream): void {
    this.#receivedAt = monotonic();
    if (this.#active.at(-1) !== stream) this.#active.push(stream);
  }

  /** A backend that vanished without a close would stall all later requests, too. */
  silentSince(time: number): void {
    if (this.#receivedAt < time) this.#drain();
  }

  released(): void {
    this.#streams--;
    if (this.#streams === 0) {
      if (this.draining) this.destroy();
      else this.#idle.set(this.#limits.idleTimeout, monotonic());
    }
    this.#owner.freed(this);
  }

  // Http2Connection

  override received(bytes: Uint8Array, length: number): boolean {
    const more = super.received(bytes, length);
    const active = this.#active;
    if (active.length > 0) {
      for (let at = 0; at < active.length; at++) (active[at] as UpstreamStream).readIdle();
      active.length = 0;
    }
    return more;
  }

  /** A backend that breaks the protocol is not waited for. */
  override connectionError(code: number): void {
    this.#detachComplete();
    super.connectionError(code);
    this.destroy();
  }

  override closed(): void {
    this.#detachComplete();
    super.closed();
  }

  /** A response that is complete needs its session no longer: what the client has not read yet stays with the stream. */
  override release(stream: UpstreamStream): void {
    if (!stream.unread) {
      super.release(stream);
      return;
    }
    stream.detached = true;
    this.streams.delete(stream.id);
    this.closedStreams.closed(stream.id, ClosedBy.end);
    this.removed(stream);
  }

  #detachComplete(): void {
    for (const stream of [...this.streams.values()] as UpstreamStream[]) if (stream.unread) stream.stopSending();
  }

  /** A complete response is valid although its stream is reset (RFC 9113 8.1). */
  override reset(id: number, code: number): void {
    const stream = this.streams.get(id) as UpstreamStream | undefined;
    if (stream?.unread === true) stream.stopSending();
    else super.reset(id, code);
  }

  protected accept(): null {
    return null;
  }

  protected opened(): void {}

  protected settled(): void {
    this.#maxStreams = Math.min(this.peerSettings.maxConcurrentStreams, maxStreams);
    if (this.#announced) return;
    this.#announced = true;
    this.#receivedAt = monotonic();
    this.#idle.set(this.#limits.idleTimeout, this.#receivedAt);
    this.#owner.ready(this);
  }

  protected goingAway(lastStream: number): void {
    this.#draining = true;
    for (const stream of [...this.streams.values()]) if (stream.id > lastStream) (stream as UpstreamStream).refused();
    this.#drain();
  }

  /** What a backend breaks costs it requests, and nothing else. */
  protected streamBroken(): void {}

  protected override removed(stream: Http2Stream): void {
    super.removed(stream);
    this.released();
  }

  protected lost(): void {
    this.#draining = true;
    this.#idle.clear();
    if (this.#announced) this.#owner.closed(this);
  }

  protected unexpected(error: unknown): void {
    this.listener.unexpected(null, error);
  }

  /** Opens no more streams; those that are open continue. */
  #drain(): void {
    this.#draining = true;
    if (this.#streams === 0) this.destroy();
  }
}
