import { type ClientHttp2Session, type ClientHttp2Stream, connect, type Settings } from 'node:http2';
import type { Socket } from 'node:net';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import type { ResponseListener } from '../upstream/upstream-link.ts';
import { clientSessionOptions } from './client-session-options.ts';
import { TokenBucket } from './connection/token-bucket.ts';
import { deferDestroy } from './deferred-destroy.ts';
import { suppressReset } from './suppress-reset.ts';
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
/** SETTINGS and PING frames, which have to be answered: burst, and rate per second. */
const controlBurst = 500;
const controlRate = 50;
/** Bytes of all responses that may be in transit; a single stream is bounded by its own window. */
const sessionWindow = 1_048_576;

/** A connection to a backend that speaks HTTP/2, and the requests on it. */
export class UpstreamSession implements StreamHost {
  readonly listener: ResponseListener;
  readonly maxHeaderCount: number;
  readonly scheme: 'http' | 'https';
  readonly socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #owner: SessionOwner;
  readonly #limits: SessionLimits;
  readonly #idle: Deadline;
  readonly #controls: TokenBucket;
  /** Streams that the backend allows at once; 0 until it has announced it. */
  #maxStreams = 0;
  #announced = false;
  #streams = 0;
  #opened = 0;
  #draining = false;
  #closed = false;
  #receivedAt = 0;
  #brokenStreams = 0;
  readonly #live = new Set<ClientHttp2Stream>();

  /** `socket` is connected; `scheme` says whether it is TLS. */
  constructor(socket: Socket, scheme: 'http' | 'https', limits: SessionLimits, owner: SessionOwner) {
    this.listener = owner.listener;
    this.maxHeaderCount = limits.maxHeaderCount;
    this.scheme = scheme;
    this.socket = socket;
    this.#limits = limits;
    this.#owner = owner;
    this.#idle = new Deadline(() => this.destroy());
    this.#controls = new TokenBucket(controlBurst, controlRate, monotonic());
    const session = connect('http://backend', { ...clientSessionOptions(limits), createConnection: () => socket });
    this.#session = session;
    deferDestroy(session, {
      brokenStreams: () => this.#brokenStreams,
      destroying: () => this.#suppressResets(),
      kept: ignore,
    });
    // Before Node's own listener, which resets every stream.
    socket.prependListener('close', () => this.#suppressResets());
    session.on('connect', () => session.setLocalWindowSize(sessionWindow));
    session.on('remoteSettings', (settings) => this.#settings(settings));
    session.on('ping', () => this.#control());
    session.on('goaway', () => this.#drain());
    // `close` reports what matters.
    session.on('error', ignore);
    session.on('close', () => this.#ended());
  }

  /** How many more streams can be opened. */
  get capacity(): number {
    const { closed, destroyed } = this.#session;
    return this.#draining || closed || destroyed ? 0 : this.#maxStreams - this.#streams;
  }

  get idle(): boolean {
    return this.#streams === 0;
  }

  get used(): boolean {
    return this.#opened > 1;
  }

  get draining(): boolean {
    return this.#draining || this.#session.closed || this.#session.destroyed;
  }

  /** Reserves a stream for a request. There must be capacity. */
  reserve(): UpstreamStream {
    this.#idle.clear();
    this.#streams++;
    this.#opened++;
    const stream = new UpstreamStream(this);
    if (this.#opened >= this.#limits.maxRequests) this.#drain();
    return stream;
  }

  /** Closes the session with all its streams. */
  destroy(): void {
    this.#draining = true;
    if (!this.#session.destroyed) this.#session.destroy();
    this.socket.destroy();
  }

  // StreamHost

  open(fields: readonly string[], endStream: boolean): ClientHttp2Stream {
    const stream = this.#session.request(fields, { endStream });
    this.#live.add(stream);
    stream.once('close', () => this.#live.delete(stream));
    return stream;
  }

  #suppressResets(): void {
    for (const stream of this.#live) suppressReset(stream);
  }

  received(): void {
    this.#receivedAt = monotonic();
    this.#controls.credit();
  }

  /** A backend that vanished without a close would stall all later requests, too. */
  silentSince(time: number): void {
    if (this.#receivedAt < time) this.#drain();
  }

  broken(): void {
    this.#brokenStreams++;
  }

  released(): void {
    this.#streams--;
    if (this.#streams === 0) {
      if (this.draining) this.destroy();
      else this.#idle.set(this.#limits.idleTimeout, monotonic());
    }
    this.#owner.freed(this);
  }

  // Events of the session

  #settings({ maxConcurrentStreams }: Settings): void {
    this.#maxStreams = Math.min(maxConcurrentStreams ?? maxStreams, maxStreams);
    this.#control();
    if (this.#announced || this.#session.destroyed) return;
    this.#announced = true;
    this.#receivedAt = monotonic();
    this.#idle.set(this.#limits.idleTimeout, this.#receivedAt);
    this.#owner.ready(this);
  }

  #control(): void {
    if (!this.#controls.take(monotonic())) this.destroy();
  }

  /** Opens no more streams; those that are open continue. */
  #drain(): void {
    this.#draining = true;
    if (this.#streams === 0) this.destroy();
  }

  #ended(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#draining = true;
    this.#idle.clear();
    this.socket.destroy();
    this.#owner.closed(this);
  }
}

function ignore(): void {}
