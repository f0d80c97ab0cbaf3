import { ByteCollector } from '../../util/bytes/byte-collector.ts';
import { ResetCode } from '../frames/codes.ts';
import type { HeaderList } from '../hpack/header-list.ts';
import type { HpackEncoder } from '../hpack/hpack-encoder.ts';
import { PendingBytes } from './pending-bytes.ts';
import { trailerLines } from './trailer-lines.ts';

/** Bytes of one body that may be in transit before anything reads them: the window of each stream. */
export const streamWindow = 131_072;
/** Bytes read of a stream until the peer may send as many again. */
const windowStep = streamWindow / 2;

/** What a stream needs of its connection. */
export interface StreamConnection {
  /** Encode into `headBlock`, then `sendHeaders` at once: blocks must be sent in the order in which they are encoded. */
  readonly encoder: HpackEncoder;
  /** Sends the block in `headBlock` as the head of a message, or as an informational one. */
  sendHeaders(stream: Http2Stream, endStream: boolean): void;
  /** Sends what the windows and the socket allow; the stream keeps the rest. False: wait for `onDrained`. */
  sendData(stream: Http2Stream, bytes: Uint8Array, start: number, end: number): boolean;
  /** Ends the sending side, behind everything that waits: with the lines of trailers, if there are any. */
  sendEnd(stream: Http2Stream, trailers: string): void;
  /** Lets the peer send so many more bytes. */
  sendWindowUpdate(stream: Http2Stream, bytes: number): void;
  /** Sends RST_STREAM, and forgets the stream. */
  sendReset(stream: Http2Stream, code: number): void;
  /** Both sides have ended: forgets the stream. */
  release(stream: Http2Stream): void;
}

/**
 * One stream: its state (RFC 9113 5.1), its windows, and what waits in both directions. A side of the gateway extends it: it
 * implements the `on...` methods, which are called at most as the states allow, and calls the others.
 */
export abstract class Http2Stream {
  readonly connection: StreamConnection;
  /** 0: not opened yet. */
  id = 0;
  /** The peer sends no more. */
  remoteEnded = false;
  /** END_STREAM was sent. */
  localEnded = false;
  /** Both sides have ended, or the stream was reset: nothing more happens on it. */
  closed = false;
  /** Bytes that the peer allows; negative after it has made its windows smaller. */
  sendWindow = 0;
  /** @internal Bytes that the peer may still send. */
  receiveWindow: number = streamWindow;
  /** @internal What waits for a window or for the socket. */
  pending: PendingBytes | null = null;
  /** @internal `sendEnd` waits for what is pending. */
  endPending = false;
  /** @internal */
  pendingTrailers = '';
  /** @internal `sendData` has returned false. */
  waiting = false;
  /** @internal The next stream whose turn it is to send; see `SendQueue`. */
  queuedNext: Http2Stream | null = null;
  /** @internal */
  queued = false;
  /** @internal Bytes sent, and what they were at the last sweep. */
  sentBytes = 0;
  /** @internal */
  sweptBytes = -1;
  /** @internal Sweeps in a row that found no progress. */
  stalledSweeps = 0;
  /** The next header block is the trailers. */
  #headRead: boolean;
  /** Bytes of the body still to come, as declared; -1: not declared. */
  #declared = -1;
  #reading = false;
  #read = 0;
  /** Bytes that arrived while nothing read. */
  #held: ByteCollector | null = null;
  /** The body is complete; its end may have to wait for `#held`. */
  #trailers: string | null = null;
  #delivering = false;

  /** `headRead`: the head that opens the stream came from the peer. */
  constructor(connection: StreamConnection, headRead: boolean) {
    this.connection = connection;
    this.#headRead = headRead;
  }

  // What a side implements

  /** A header block before the body. `fields` are valid during the call. `endStream`: there is no body. */
  protected abstract onHead(fields: HeaderList, endStream: boolean): void;
  /** A piece of the body; the range is valid during the call. Only while reading. */
  protected abstract onData(bytes: Uint8Array, start: number, end: number): void;
  /** The body is complete. `trailers`: valid lines, those removed that must not be there. Only while reading. */
  protected abstract onEnd(trailers: string): void;
  /** The stream is over before both sides had ended. `code`: why. `byPeer`: it came from the peer; false: the peer broke a rule. */
  abstract onReset(code: number, byPeer: boolean): void;
  /** What waited is sent: more can follow. */
  abstract onDrained(): void;
  /** END_STREAM was sent. */
  abstract onSent(): void;
  /** Code of the side threw. */
  abstract unexpected(error: unknown): void;

  // What a side calls

  /** The head was the last one before the body. */
  protected headComplete(): void {
    this.#headRead = true;
  }

  /** The peer has declared the length of the body: what arrives must have it. */
  protected expectLength(bytes: number): void {
    this.#declared = bytes;
  }

  /** Passes on the body, from now on or again. */
  protected startReading(): void {
    if (this.#reading || this.closed) return;
    this.#reading = true;
    if (!this.#delivering) this.#deliverHeld();
  }

  protected stopReading(): void {
    this.#reading = false;
  }

  protected get reading(): boolean {
    return this.#reading;
  }

  /** Sends RST_STREAM. There is no call back. */
  protected reset(code: number): void {
    if (this.closed) return;
    this.connection.sendReset(this, code);
  }

  // What the connection calls

  /** @internal A header block arrived. Returns the code of an error of the stream; -1: none. */
  receiveHeaders(fields: HeaderList, endStream: boolean): number {
    if (!this.#headRead) {
      if (endStream) this.remoteEnded = true;
      try {
        this.onHead(fields, endStream);
      } catch (error) {
        this.unexpected(error);
      }
      if (endStream && !this.closed) return this.#receiveEnd('');
      return -1;
    }
    if (!endStream) return ResetCode.protocolError;
    const trailers = trailerLines(fields);
    return trailers === null ? ResetCode.protocolError : this.#receiveEnd(trailers);
  }

  /** @internal A piece of the body arrived. Returns the code of an error of the stream; -1: none. */
  receiveData(bytes: Uint8Array, start: number, end: number): number {
    if (this.#declared >= 0) {
      this.#declared -= end - start;
      if (this.#declared < 0) return ResetCode.protocolError;
    }
    if (this.#reading && this.#held === null) this.#deliver(bytes, start, end);
    else {
      this.#held ??= new ByteCollector();
      this.#held.push(bytes, start, end);
    }
    return -1;
  }

  /** @internal A DATA frame is complete. `padding`: its bytes that are no data. */
  receiveDataEnd(padding: number, endStream: boolean): number {
    if (endStream) return this.#receiveEnd('');
    if (padding > 0) this.#credit(padding);
    return -1;
  }

  /** @internal Copies what cannot be sent yet. */
  holdBytes(bytes: Uint8Array, start: number, end: number): void {
    if (this.pending === null) {
      this.pending = new PendingBytes();
      this.sweptBytes = -1;
      this.stalledSweeps = 0;
    }
    this.pending.push(bytes, start, end);
  }

  /** @internal The stream is over: everything that waits is discarded. */
  close(): void {
    this.closed = true;
    this.#reading = false;
    this.#held = null;
    this.pending?.clear();
    this.pending = null;
    this.endPending = false;
    this.waiting = false;
  }

  #receiveEnd(trailers: string): number {
    this.remoteEnded = true;
    if (this.#declared > 0) return ResetCode.protocolError;
    this.#trailers = trailers;
    if (this.#reading && this.#held === null && !this.#delivering) this.#end();
    if (this.localEnded && !this.closed) this.connection.release(this);
    return -1;
  }

  /** The body is complete: it has arrived, and was passed on. */
  protected get bodyRead(): boolean {
    return this.remoteEnded && this.#held === null;
  }

  #deliver(bytes: Uint8Array, start: number, end: number): void {
    this.#delivering = true;
    try {
      this.onData(bytes, start, end);
    } catch (error) {
      this.unexpected(error);
    }
    this.#delivering = false;
    this.#credit(end - start);
  }

  #deliverHeld(): void {
    const held = this.#held;
    if (held !== null) {
      const bytes = held.take();
      this.#deliver(bytes, 0, bytes.byteLength);
      this.#held = null;
    }
    if (this.#reading && this.#trailers !== null) this.#end();
  }

  #end(): void {
    const trailers = this.#trailers as string;
    this.#trailers = null;
    this.#reading = false;
    try {
      this.onEnd(trailers);
    } catch (error) {
      this.unexpected(error);
    }
  }

  #credit(bytes: number): void {
    if (this.remoteEnded || this.closed) return;
    this.#read += bytes;
    if (this.#read < windowStep) return;
    this.receiveWindow += this.#read;
    this.connection.sendWindowUpdate(this, this.#read);
    this.#read = 0;
  }
}
