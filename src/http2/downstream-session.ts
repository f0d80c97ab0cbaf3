import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { type ClientConnection, type DownstreamHandler, firstRequestGrace } from '../dataplane/downstream.ts';
import { type DownstreamPeer, Exchange } from '../dataplane/exchange.ts';
import type { ErrorEntry } from '../errors.ts';
import type { DownstreamLimits } from '../http1/downstream-connection.ts';
import { ParsedRequest } from '../http1/parse-request.ts';
import type { RuntimeSnapshot } from '../snapshot/runtime.ts';
import { monotonic } from '../util/clock.ts';
import { Deadline } from '../util/deadlines.ts';
import { requestId } from '../util/request-ids.ts';
import { Allowance } from './allowance.ts';
import { ResetCode } from './codes.ts';
import { parseStreamHead, streamRequestLine } from './downstream-head.ts';
import { DownstreamStream } from './downstream-stream.ts';
import { sessionOptions, sessionWindowSize } from './session-options.ts';
import { spareSession } from './spare-session.ts';

/** The answer to a request that could not be read. */
export interface Refusal {
  readonly status: number;
  /** Header lines, without a length. */
  readonly block: string;
  readonly body: string;
}

/** What a session needs of the worker around it. */
export interface SessionHost {
  /** The node is about to stop. */
  readonly draining: boolean;
  readonly limits: DownstreamLimits;
  readonly handler: DownstreamHandler;
  readonly snapshots: { readonly current: RuntimeSnapshot };
  closed(connection: ClientConnection): void;
  unexpected(exchange: Exchange | null, error: unknown): void;
  /** The header lines of an answer. */
  responseBlock(exchange: Exchange): string;
  /** `request`: what there is of its request line, or its exchange, which has been finished. */
  refusal(peer: DownstreamPeer, error: ErrorEntry, request: string | Exchange): Refusal;
}

const endStreamFlag = 0x1;
const noError = 0;
const greatestStreamId = 2 ** 31 - 1;
/** A session that has said goodbye is given so long to take what was written. */
const lingerTimeout = 2_000;
/** A client in doubt is given so long to answer a PING. */
const proofTimeout = 3_000;
/** Requests that a client gives up, and malformed ones: so many at once, so many a second. The former cost backends something. */
const resetBurst = 200;
const resetRate = 20;
/** SETTINGS and PING frames, which have to be answered. */
const controlBurst = 500;
const controlRate = 50;

const owner = Symbol('stream owner');
type OwnedStream = ServerHttp2Stream & { [owner]: DownstreamStream | null };

/** One HTTP/2 connection of a client: every stream on it is an exchange of its own. */
export class DownstreamSession implements ClientConnection {
  readonly socket: Socket;
  readonly peer: DownstreamPeer;
  readonly host: SessionHost;
  readonly #session: ServerHttp2Session;
  readonly #streams = new Set<DownstreamStream>();
  readonly #idle: Deadline;
  readonly #sweep: Deadline;
  readonly #proof: Deadline;
  readonly #resets: Allowance;
  readonly #controls: Allowance;
  /** Streams that were reset for what the client sent on them. */
  #brokenStreams = 0;
  #open = true;
  #draining = false;

  constructor(socket: Socket, peer: DownstreamPeer, host: SessionHost) {
    const now = monotonic();
    this.socket = socket;
    this.peer = peer;
    this.host = host;
    this.#resets = new Allowance(resetBurst, resetRate, now);
    this.#controls = new Allowance(controlBurst, controlRate, now);
    this.#idle = new Deadline(() => this.#goodbye());
    this.#proof = new Deadline(() => socket.destroy());
    this.#sweep = new Deadline(() => this.#resetStalled());
    this.#idle.set(host.limits.headTimeout, now);
    const session = performServerHandshake(socket, sessionOptions(host.limits));
    this.#session = session;
    spareSession(session, {
      brokenStreams: () => this.#brokenStreams,
      ending: () => this.#silence(),
      spared: () => this.#prove(),
    });
    session.setLocalWindowSize(sessionWindowSize);
    session.on('stream', (stream, _headers, flags, fields) => this.#begin(stream as OwnedStream, flags, fields));
    session.on('remoteSettings', () => this.#control());
    session.on('ping', () => this.#control());
    // What matters follows with `close`.
    session.on('error', ignore);
    session.on('close', () => this.#closed());
    // Before Node hears of it, which then resets every stream.
    socket.prependListener('close', () => this.#silence());
    // A proxy has no use for half-closed connections: it is an abort.
    socket.on('end', () => socket.destroy());
    if (host.draining) this.announceEnd();
  }

  /** The first GOAWAY of a graceful shutdown (RFC 9113 6.8): streams that the client opens before it arrives are still served. */
  announceEnd(): void {
    if (this.#open && !this.#session.closed && !this.#session.destroyed)
      this.#session.goaway(noError, greatestStreamId);
  }

  #silence(): void {
    for (const downstream of this.#streams) downstream.silence();
  }

  /** A session that has ended itself all the same is deaf: one that lives answers a PING. */
  #prove(): void {
    if (this.#proof.pending || this.#session.destroyed) return;
    this.#proof.set(proofTimeout, monotonic());
    this.#session.ping((error: Error | null) => {
      if (error === null) this.#proof.clear();
    });
  }

  /** Accepts no more streams; those in flight finish, and a new session may still open its first ones. */
  drain(): void {
    this.#draining = true;
    if (this.peer.requests === 0) this.#idle.set(firstRequestGrace, monotonic());
    else this.#goodbye();
  }

  /** A piece of an answer has gone out. */
  carried(): void {
    this.#controls.credit();
  }

  #begin(stream: OwnedStream, flags: number, fields: readonly string[]): void {
    stream.on('error', ignore);
    if (stream.closed || stream.destroyed) {
      // Given up before it was looked at.
      this.streamAborted(stream.rstCode);
      return;
    }
    const endStream = (flags & endStreamFlag) !== 0;
    const downstream = new DownstreamStream(stream, this, endStream);
    stream[owner] = downstream;
    stream.on('aborted', onAborted);
    stream.on('close', onClose);
    if (this.#streams.size === 0) this.#busy();
    this.#streams.add(downstream);
    this.peer.requests++;
    try {
      this.#request(downstream, fields, endStream);
    } catch (error) {
      downstream.unexpected(error);
    }
    if (this.peer.requests >= this.host.limits.keepaliveRequests) this.#session.close();
  }

  #request(downstream: DownstreamStream, fields: readonly string[], endStream: boolean): void {
    const { limits, snapshots } = this.host;
    const head = parseStreamHead(fields, endStream, limits);
    if (!(head instanceof ParsedRequest)) {
      downstream.refuse(head, streamRequestLine(fields));
      // Over HTTP/1.1 it would have cost the connection.
      this.#reset();
      return;
    }
    const id = requestId();
    downstream.begin(new Exchange(downstream, this.peer, head, snapshots.current, id, Date.now(), monotonic()));
  }

  /** @internal The stream is closed. */
  streamClosed(downstream: DownstreamStream): void {
    this.#streams.delete(downstream);
    if (this.#streams.size > 0) return;
    // A session that was said goodbye to is over now; Node would wait for the client to see it too.
    if (this.#session.closed) this.#endSoon();
    else if (this.#draining) this.#goodbye();
    else this.#idle.set(this.host.limits.keepaliveTimeout, monotonic());
  }

  /** @internal The stream was given up before its answer was complete. `code`: why. */
  streamAborted(code: number): void {
    if (code === ResetCode.protocolError) this.#brokenStreams++;
    this.#reset();
  }

  #busy(): void {
    this.#idle.clear();
    if (!this.#sweep.pending) this.#sweep.set(this.host.limits.sendTimeout, monotonic());
  }

  /** Resets streams whose complete answer the client has not taken since the last look. */
  #resetStalled(): void {
    for (const downstream of this.#streams) {
      if (!downstream.settled) continue;
      downstream.lingered++;
      if (downstream.lingered === 2) downstream.reset(ResetCode.cancel);
      else if (downstream.lingered > 2) this.socket.destroy();
    }
    if (this.#streams.size > 0) this.#sweep.set(this.host.limits.sendTimeout, monotonic());
  }

  #reset(): void {
    if (!this.#resets.take(monotonic())) this.#destroy(ResetCode.enhanceYourCalm);
  }

  #control(): void {
    if (!this.#controls.take(monotonic())) this.#destroy(ResetCode.enhanceYourCalm);
  }

  #goodbye(): void {
    if (!this.#open) return;
    const idle = this.#streams.size === 0;
    this.#session.close();
    if (idle) this.#endSoon();
  }

  #destroy(code: number): void {
    if (!this.#open) return;
    // Node takes a code in the place of an error; its types do not know.
    this.#session.destroy(code as unknown as Error);
    this.#endSoon();
  }

  /** Node waits for as long as the client takes to read; we do not. */
  #endSoon(): void {
    if (this.#open) new Deadline(() => this.socket.destroy()).set(lingerTimeout, monotonic());
  }

  #closed(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#idle.clear();
    this.#sweep.clear();
    this.#proof.clear();
    this.host.closed(this);
  }
}

function onAborted(this: ServerHttp2Stream): void {
  (this as OwnedStream)[owner]?.aborted();
}

function onClose(this: ServerHttp2Stream): void {
  (this as OwnedStream)[owner]?.closed();
}

function ignore(): void {}
