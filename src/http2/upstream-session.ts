import { type ClientHttp2Session, type ClientHttp2Stream, connect, type Settings } from 'node:http2';
import type { Socket } from 'node:net';
import type { ResponseListener } from '../http1/upstream-connection.ts';
import { monotonic } from '../util/clock.ts';
import { Deadline } from '../util/deadlines.ts';
import { Allowance } from './allowance.ts';
import { clientSessionOptions } from './client-session-options.ts';
import { silence } from './silence.ts';
import { spareSession } from './spare-session.ts';
import { type StreamHost, UpstreamStream } from './upstream-stream.ts';

export interface SessionLimits {
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
  /** Requests on one session before it is closed. */
  readonly maxRequests: number;
  /** Milliseconds that a session without requests is kept; 0: for ever. */
  readonly idleTimeout: number;
}

/** Told what becomes of a session. */
export interface SessionOwner {
  readonly listener: ResponseListener;
  /** The backend has said how many streams it takes. */
  ready(session: UpstreamSession): void;
  /** A stream has ended, so that there may be room for another. */
  freed(session: UpstreamSession): void;
  closed(session: UpstreamSession): void;
}

/** Streams on one session, however many the backend would take. */
const mostStreams = 1_000;
/** SETTINGS and PING frames, which have to be answered: so many at once, so many a second. */
const controlBurst = 500;
const controlRate = 50;
/** Bytes of all answers that may be on their way; what a single stream may send is its own window. */
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
  readonly #controls: Allowance;
  /** Streams that the backend takes at once; 0 until it has said so. */
  #most = 0;
  #known = false;
  #streams = 0;
  #given = 0;
  #leaving = false;
  #closed = false;
  #heardAt = 0;
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
    this.#controls = new Allowance(controlBurst, controlRate, monotonic());
    const session = connect('http://backend', { ...clientSessionOptions(limits), createConnection: () => socket });
    this.#session = session;
    spareSession(session, {
      brokenStreams: () => this.#brokenStreams,
      ending: () => this.#silence(),
      spared: ignore,
    });
    // Before Node hears of it, which then resets every stream.
    socket.prependListener('close', () => this.#silence());
    session.on('connect', () => session.setLocalWindowSize(sessionWindow));
    session.on('remoteSettings', (settings) => this.#settings(settings));
    session.on('ping', () => this.#control());
    session.on('goaway', () => this.#leave());
    // What matters follows with `close`.
    session.on('error', ignore);
    session.on('close', () => this.#ended());
  }

  /** How many more streams can be opened. */
  get room(): number {
    const { closed, destroyed } = this.#session;
    return this.#leaving || closed || destroyed ? 0 : this.#most - this.#streams;
  }

  get quiet(): boolean {
    return this.#streams === 0;
  }

  get used(): boolean {
    return this.#given > 1;
  }

  get leaving(): boolean {
    return this.#leaving || this.#session.closed || this.#session.destroyed;
  }

  /** Keeps a place for a request. There must be room. */
  give(): UpstreamStream {
    this.#idle.clear();
    this.#streams++;
    this.#given++;
    const stream = new UpstreamStream(this);
    if (this.#given >= this.#limits.maxRequests) this.#leave();
    return stream;
  }

  /** Ends it with all that is on it. */
  destroy(): void {
    this.#leaving = true;
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

  #silence(): void {
    for (const stream of this.#live) silence(stream);
  }

  heard(): void {
    this.#heardAt = monotonic();
    this.#controls.credit();
  }

  /** A backend that is gone without a word would keep all requests after this one waiting too. */
  silentSince(time: number): void {
    if (this.#heardAt < time) this.#leave();
  }

  broken(): void {
    this.#brokenStreams++;
  }

  released(): void {
    this.#streams--;
    if (this.#streams === 0) {
      if (this.leaving) this.destroy();
      else this.#idle.set(this.#limits.idleTimeout, monotonic());
    }
    this.#owner.freed(this);
  }

  // What the session tells

  #settings({ maxConcurrentStreams }: Settings): void {
    this.#most = Math.min(maxConcurrentStreams ?? mostStreams, mostStreams);
    this.#control();
    if (this.#known || this.#session.destroyed) return;
    this.#known = true;
    this.#heardAt = monotonic();
    this.#idle.set(this.#limits.idleTimeout, this.#heardAt);
    this.#owner.ready(this);
  }

  #control(): void {
    if (!this.#controls.take(monotonic())) this.destroy();
  }

  /** Takes no more streams; those that are open go on. */
  #leave(): void {
    this.#leaving = true;
    if (this.#streams === 0) this.destroy();
  }

  #ended(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#leaving = true;
    this.#idle.clear();
    this.socket.destroy();
    this.#owner.closed(this);
  }
}

function ignore(): void {}
