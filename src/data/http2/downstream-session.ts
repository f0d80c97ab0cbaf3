import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { requestId } from '../../shared/util/request-ids.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { ParsedRequest } from '../http1/parsed-request.ts';
import { type ClientConnection, firstRequestGrace } from '../request/downstream.ts';
import type { DownstreamHost } from '../request/downstream-host.ts';
import { type DownstreamPeer, Exchange } from '../request/exchange.ts';
import { TokenBucket } from './connection/token-bucket.ts';
import { deferDestroy } from './deferred-destroy.ts';
import { parseStreamHead, streamRequestLine } from './downstream-head.ts';
import { DownstreamStream } from './downstream-stream.ts';
import { ResetCode } from './frames/codes.ts';
import { sessionOptions, sessionWindowSize } from './session-options.ts';
import type { StreamOwner } from './stream-owner.ts';

const endStreamFlag = 0x1;
const noError = 0;
const maxStreamId = 2 ** 31 - 1;
/** Milliseconds that a session has after its final GOAWAY to send what was written. */
const lingerTimeout = 2_000;
/** Calls of `closeAnnounced` without a new stream, each a second after the other, before the final GOAWAY. */
const quietCallsToClose = 3;
/** Milliseconds that a client has to answer a PING when its session may be dead. */
const pingTimeout = 3_000;
/** Requests that a client resets, and malformed ones: burst, and rate per second. The former cost work at backends. */
const resetBurst = 200;
const resetRate = 20;
/** SETTINGS and PING frames, which have to be answered. */
const controlBurst = 500;
const controlRate = 50;

const owner = Symbol('stream owner');
type OwnedStream = ServerHttp2Stream & { [owner]: DownstreamStream | null };

/** One HTTP/2 connection of a client: every stream on it is an exchange of its own. */
export class DownstreamSession implements ClientConnection, StreamOwner {
  readonly socket: Socket;
  readonly peer: DownstreamPeer;
  readonly host: DownstreamHost;
  readonly #session: ServerHttp2Session;
  readonly #streams = new Set<DownstreamStream>();
  readonly #idle: Deadline;
  readonly #sweep: Deadline;
  readonly #pingDeadline: Deadline;
  readonly #resets: TokenBucket;
  readonly #controls: TokenBucket;
  /** Streams that were reset because of what the client sent on them. */
  #brokenStreams = 0;
  #open = true;
  #draining = false;
  /** See `closeAnnounced`. */
  #requestsSeen = 0;
  #quietCalls = 0;

  constructor(socket: Socket, peer: DownstreamPeer, host: DownstreamHost) {
    const now = monotonic();
    this.socket = socket;
    this.peer = peer;
    this.host = host;
    this.#resets = new TokenBucket(resetBurst, resetRate, now);
    this.#controls = new TokenBucket(controlBurst, controlRate, now);
    this.#idle = new Deadline(() => this.#finalGoaway());
    this.#pingDeadline = new Deadline(() => socket.destroy());
    this.#sweep = new Deadline(() => this.#resetStalled());
    this.#idle.set(host.limits.headTimeout, now);
    const session = performServerHandshake(socket, sessionOptions(host.limits));
    this.#session = session;
    deferDestroy(session, {
      brokenStreams: () => this.#brokenStreams,
      destroying: () => this.#suppressResets(),
      kept: () => this.#checkAlive(),
    });
    session.setLocalWindowSize(sessionWindowSize);
    session.on('stream', (stream, _headers, flags, fields) => this.#begin(stream as OwnedStream, flags, fields));
    session.on('remoteSettings', () => this.#control());
    session.on('ping', () => this.#control());
    // `close` reports what matters.
    session.on('error', ignore);
    session.on('close', () => this.#closed());
    // Before Node's own listener, which resets every stream.
    socket.prependListener('close', () => this.#suppressResets());
    // A proxy does not support half-closed connections: it is an abort.
    socket.on('end', () => socket.destroy());
    if (host.draining) this.announceEnd();
  }

  /**
   * The first GOAWAY of a graceful shutdown (RFC 9113 6.8): streams that the client opens before it arrives are still
   * served.
   */
  announceEnd(): void {
    if (this.#open && !this.#session.closed && !this.#session.destroyed) this.#session.goaway(noError, maxStreamId);
  }

  /**
   * Called at intervals: the final GOAWAY follows when the client has opened no stream for some of them. A stream that is on its way
   * would be refused. A PING would not help: clients on nghttp2 answer none once they have read a GOAWAY.
   */
  closeAnnounced(): void {
    const { requests } = this.peer;
    const quiet = this.#streams.size === 0 && requests === this.#requestsSeen;
    this.#requestsSeen = requests;
    this.#quietCalls = quiet ? this.#quietCalls + 1 : 0;
    if (this.#quietCalls >= quietCallsToClose && !this.#draining) this.drain();
  }

  endStreams(): void {
    for (const downstream of this.#streams) downstream.endStream();
  }

  #suppressResets(): void {
    for (const downstream of this.#streams) downstream.suppressReset();
  }

  /** The session may have terminated itself without closing. A live one answers a PING. */
  #checkAlive(): void {
    if (this.#pingDeadline.pending || this.#session.destroyed) return;
    this.#pingDeadline.set(pingTimeout, monotonic());
    this.#session.ping((error: Error | null) => {
      if (error === null) this.#pingDeadline.clear();
    });
  }

  /** Accepts no more streams; those in flight finish, and a new session may still open its first ones. */
  drain(): void {
    this.#draining = true;
    if (this.peer.requests === 0) this.#idle.set(firstRequestGrace, monotonic());
    else this.#finalGoaway();
  }

  /** A part of a response was sent. */
  carried(): void {
    this.#controls.credit();
  }

  #begin(stream: OwnedStream, flags: number, fields: readonly string[]): void {
    stream.on('error', ignore);
    if (stream.closed || stream.destroyed) {
      // Reset before it was read.
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
    // A session that has sent GOAWAY is complete now. Node would wait for the client to close it, too.
    if (this.#session.closed) this.#endSoon();
    else if (this.#draining) this.#finalGoaway();
    else this.#idle.set(this.host.limits.keepaliveTimeout, monotonic());
  }

  /** @internal The stream was reset before its response was complete. `code`: why. */
  streamAborted(code: number): void {
    if (code === ResetCode.protocolError) this.#brokenStreams++;
    this.#reset();
  }

  #busy(): void {
    this.#idle.clear();
    if (!this.#sweep.pending) this.#sweep.set(this.host.limits.sendTimeout, monotonic());
  }

  /** Resets streams whose complete response the client has not read since the last sweep. */
  #resetStalled(): void {
    for (const downstream of this.#streams) {
      if (!downstream.settled) continue;
      downstream.sweeps++;
      if (downstream.sweeps === 2) downstream.reset(ResetCode.cancel);
      else if (downstream.sweeps > 2) this.socket.destroy();
    }
    if (this.#streams.size > 0) this.#sweep.set(this.host.limits.sendTimeout, monotonic());
  }

  #reset(): void {
    if (!this.#resets.take(monotonic())) this.#destroy(ResetCode.enhanceYourCalm);
  }

  #control(): void {
    if (!this.#controls.take(monotonic())) this.#destroy(ResetCode.enhanceYourCalm);
  }

  #finalGoaway(): void {
    if (!this.#open) return;
    const idle = this.#streams.size === 0;
    this.#session.close();
    if (idle) this.#endSoon();
  }

  #destroy(code: number): void {
    if (!this.#open) return;
    // Node accepts a code instead of an error; its types do not say so.
    this.#session.destroy(code as unknown as Error);
    this.#endSoon();
  }

  /** Node waits for as long as the client takes to read; the gateway does not. */
  #endSoon(): void {
    if (this.#open) new Deadline(() => this.socket.destroy()).set(lingerTimeout, monotonic());
  }

  #closed(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#idle.clear();
    this.#sweep.clear();
    this.#pingDeadline.clear();
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
