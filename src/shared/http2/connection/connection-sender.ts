import type { Socket } from 'node:net';
import { unsentBytes } from '../../util/net/unsent-bytes.ts';
import { monotonic } from '../../util/time/clock.ts';
import { Deadline } from '../../util/time/deadlines.ts';
import { type Flushable, flushLater } from '../../util/time/flush-later.ts';
import { initialWindow, maxFrameSize, ResetCode } from '../frames/codes.ts';
import { FrameWriter } from '../frames/frame-writer.ts';
import { BlockBuffer } from '../hpack/block-buffer.ts';
import { HpackEncoder } from '../hpack/hpack-encoder.ts';
import { ClosedBy as Closed, type ClosedBy, ClosedStreams } from './closed-streams.ts';
import { PeerSettings } from './peer-settings.ts';
import { SendQueue } from './send-queue.ts';
import type { Http2Stream, StreamConnection } from './stream.ts';

/** Collected bytes that are written at once instead of at the end of the turn. */
const flushSize = 131_072;
/** Bytes that wait while the peer does not read. Nothing is read of such a peer, so that it causes no more. */
const maxUnread = 65_536;
/** Sweeps without a byte after which a stream is reset. Two make the time between once and one and a half times the timeout. */
const stalledSweeps = 2;
/** A piece of this many bytes that was waiting makes up for a frame that carries nothing. */
const minUsefulSize = 256;

/** The block that is being encoded: its bytes are copied before another begins, so that all connections share it. */
export const headBlock = new BlockBuffer();

/** The sending half of a connection: streams, windows, and their turns. */
export abstract class ConnectionSender implements StreamConnection, Flushable {
  readonly socket: Socket;
  /** Streams that are open or half-closed. */
  readonly streams = new Map<number, Http2Stream>();
  readonly encoder = new HpackEncoder();
  readonly peerSettings = new PeerSettings();
  protected readonly output = new FrameWriter();
  protected readonly closedStreams = new ClosedStreams();
  /** Bytes that the peer allows on all streams together. */
  #window: number = initialWindow;
  readonly #queue = new SendQueue();
  /** The socket holds more than it should. */
  #blocked = false;
  #flushScheduled = false;
  #resumeReading = false;
  readonly #sendTimeout: number;
  readonly #sweep = new Deadline(() => this.#sweepStalled());
  #unsent = -1;

  /** `sendTimeout`: milliseconds in which a peer has to take something of what it asked for. */
  constructor(socket: Socket, sendTimeout: number) {
    this.socket = socket;
    this.#sendTimeout = sendTimeout;
  }

  /** A stream is no longer in `streams`. */
  protected abstract removed(stream: Http2Stream): void;
  /** The peer has reset a stream, or made us reset it. Null: it was not opened, or is closed already. */
  protected abstract streamBroken(stream: Http2Stream | null): void;
  /** A part of a message was sent or received. */
  protected abstract carried(): void;

  // StreamConnection

  sendHeaders(stream: Http2Stream, endStream: boolean): void {
    if (stream.closed) return;
    this.carried();
    this.output.headers(stream.id, headBlock.bytes, 0, headBlock.length, endStream);
    this.flushSoon();
    if (endStream) this.#ended(stream);
  }

  sendData(stream: Http2Stream, bytes: Uint8Array, start: number, end: number): boolean {
    if (stream.closed || stream.localEnded) return true;
    this.carried();
    let at = start;
    if (stream.pending === null && !this.#blocked && this.#queue.empty) {
      const size = Math.min(end - start, stream.sendWindow, this.#window);
      if (size > 0) {
        this.#emit(stream, bytes, start, start + size);
        at += size;
      }
    }
    if (at < end) {
      this.#hold(stream, bytes, at, end);
      return false;
    }
    if (this.output.size >= flushSize) this.flush();
    else this.flushSoon();
    if (!this.#blocked) return true;
    stream.waiting = true;
    return false;
  }

  sendEnd(stream: Http2Stream, trailers: string): void {
    if (stream.closed || stream.localEnded) return;
    stream.pendingTrailers = trailers;
    if (stream.pending === null) this.#end(stream);
    else stream.endPending = true;
  }

  sendWindowUpdate(stream: Http2Stream, bytes: number): void {
    this.output.windowUpdate(stream.id, bytes);
    this.flushSoon();
  }

  sendReset(stream: Http2Stream, code: number): void {
    if (stream.closed) return;
    if (stream.id === 0) {
      stream.close();
      return;
    }
    this.output.reset(stream.id, code);
    this.flushSoon();
    this.forget(stream, Closed.us);
  }

  release(stream: Http2Stream): void {
    this.forget(stream, Closed.end);
  }

  protected forget(stream: Http2Stream, how: ClosedBy): void {
    this.streams.delete(stream.id);
    this.closedStreams.closed(stream.id, how);
    stream.close();
    this.removed(stream);
  }

  // Windows

  /** A stream is open: it may send what the peer allows each. */
  protected register(stream: Http2Stream, id: number): void {
    stream.id = id;
    stream.sendWindow = this.peerSettings.initialWindowSize;
    this.streams.set(id, stream);
  }

  /** The peer allows more bytes on all streams together. Returns the new window. */
  protected widen(bytes: number): number {
    this.#window += bytes;
    return this.#window;
  }

  /** A stream may send again. */
  protected widened(stream: Http2Stream): void {
    if (stream.pending !== null && stream.sendWindow > 0) this.#queue.add(stream);
  }

  /** Sends what windows and the socket allow, frame by frame in turn. */
  protected pump(): void {
    while (!this.#blocked && this.#window > 0) {
      const stream = this.#queue.take();
      if (stream === null) return;
      const { pending } = stream;
      const size = pending === null ? 0 : Math.min(pending.size, stream.sendWindow, this.#window, maxFrameSize);
      // Its own window is closed: it comes back with a WINDOW_UPDATE.
      if (pending === null || size <= 0) continue;
      // For small windows the peer has to send many WINDOW_UPDATE; those for a few bytes are not worth it.
      if (size >= minUsefulSize) this.carried();
      pending.shift(size, (bytes, start, end) => this.#emit(stream, bytes, start, end));
      if (pending.size > 0) this.widened(stream);
      else {
        stream.pending = null;
        this.#drained(stream);
      }
      if (this.output.size >= flushSize) this.flush();
      else this.flushSoon();
    }
  }

  #drained(stream: Http2Stream): void {
    if (stream.endPending) {
      stream.endPending = false;
      this.#end(stream);
    } else if (stream.waiting) {
      stream.waiting = false;
      stream.onDrained();
    }
  }

  #emit(stream: Http2Stream, bytes: Uint8Array, start: number, end: number): void {
    const size = end - start;
    stream.sendWindow -= size;
    stream.sentBytes += size;
    this.#window -= size;
    this.output.data(stream.id, bytes, start, end);
  }

  #hold(stream: Http2Stream, bytes: Uint8Array, start: number, end: number): void {
    stream.holdBytes(bytes, start, end);
    stream.waiting = true;
    if (stream.sendWindow > 0) this.#queue.add(stream);
    this.#watch();
    this.flushSoon();
  }

  #end(stream: Http2Stream): void {
    const trailers = stream.pendingTrailers;
    if (trailers === '') this.output.endStream(stream.id);
    else {
      headBlock.length = 0;
      this.encoder.trailers(headBlock, trailers);
      this.output.headers(stream.id, headBlock.bytes, 0, headBlock.length, true);
    }
    this.flushSoon();
    this.#ended(stream);
  }

  #ended(stream: Http2Stream): void {
    stream.localEnded = true;
    stream.waiting = false;
    stream.onSent();
    if (stream.remoteEnded && !stream.closed) this.release(stream);
  }

  // Socket

  /** Writes what was collected at the end of the turn. */
  protected flushSoon(): void {
    if (this.#flushScheduled || this.#blocked) return;
    this.#flushScheduled = true;
    flushLater(this);
  }

  flush(): void {
    this.#flushScheduled = false;
    if (!this.#blocked) this.flushNow();
  }

  /** Writes even to a socket that holds more than it should. */
  protected flushNow(): void {
    if (this.output.size === 0) return;
    if (this.socket.destroyed || !this.socket.writable) this.output.clear();
    else if (!this.output.flush(this.socket)) {
      this.#blocked = true;
      this.#watch();
    }
  }

  /** Call it after each read. False: stop reading until `socket.resume()`, which follows by itself. */
  protected mayRead(): boolean {
    this.#resumeReading = this.#blocked && this.output.size > maxUnread;
    return !this.#resumeReading;
  }

  /** The socket has taken everything. */
  writable(): void {
    this.#blocked = false;
    this.#unsent = -1;
    this.flush();
    this.pump();
    this.flush();
    for (const stream of this.streams.values()) {
      if (this.#blocked) break;
      if (stream.waiting && stream.pending === null) this.#drained(stream);
    }
    if (this.#resumeReading && !this.#blocked) {
      this.#resumeReading = false;
      this.socket.resume();
    }
  }

  // Peers that do not read

  #watch(): void {
    if (this.#sweep.pending) return;
    this.#unsent = -1;
    this.#sweep.set(this.#sendTimeout / stalledSweeps, monotonic());
  }

  /** Resets streams whose peer takes nothing; a peer that takes nothing at all loses its connection. */
  #sweepStalled(): void {
    if (this.socket.destroyed) return;
    let watched = this.#blocked;
    if (this.#blocked) {
      const unsent = unsentBytes(this.socket);
      if (unsent === this.#unsent) {
        this.socket.destroy();
        return;
      }
      this.#unsent = unsent;
    }
    for (const stream of this.streams.values()) {
      if (stream.pending === null) continue;
      watched = true;
      if (this.#blocked && stream.sendWindow > 0 && this.#window > 0) continue;
      if (stream.sentBytes !== stream.sweptBytes) {
        stream.sweptBytes = stream.sentBytes;
        stream.stalledSweeps = 0;
      } else if (++stream.stalledSweeps >= stalledSweeps) {
        this.sendReset(stream, ResetCode.cancel);
        stream.onReset(ResetCode.cancel, false);
        this.streamBroken(stream);
      }
    }
    if (watched) this.#sweep.set(this.#sendTimeout / stalledSweeps, monotonic());
  }

  /** The socket is closed. */
  protected stopSending(): void {
    this.#sweep.clear();
    this.output.clear();
  }
}
