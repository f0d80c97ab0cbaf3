import type { Socket } from 'node:net';
import { monotonic } from '../../../shared/util/time/clock.ts';
import { Deadline } from '../../../shared/util/time/deadlines.ts';
import type { SocketOwner } from '../../listener/accept.ts';
import { initialWindow, maxStreamId, maxWindow, preface, ResetCode, Setting } from '../frames/codes.ts';
import { type FrameHandler, FrameReader } from '../frames/frame-reader.ts';
import { HeaderList } from '../hpack/header-list.ts';
import { HpackDecoder } from '../hpack/hpack-decoder.ts';
import { ClosedBy } from './closed-streams.ts';
import { ConnectionSender } from './connection-sender.ts';
import { type Http2Stream, streamWindow } from './stream.ts';
import { TokenBucket } from './token-bucket.ts';

/** What the two sides set differently. */
export interface ConnectionOptions {
  /** The gateway is the server: the peer opens the streams. */
  readonly server: boolean;
  /** Entries of the first SETTINGS frame, in addition to those that both sides send. */
  readonly settings: readonly (readonly [number, number])[];
  /** Bytes of all bodies that may be in transit together. */
  readonly window: number;
  /** Bytes of a header list as SETTINGS_MAX_HEADER_LIST_SIZE counts them, and of its encoded form. */
  readonly maxHeaderListSize: number;
  /** Fields of a header list. */
  readonly maxHeaderCount: number;
  /** Milliseconds in which a header block that has begun must be complete. */
  readonly headTimeout: number;
  /** Milliseconds in which a peer has to take something of what it asked for. */
  readonly sendTimeout: number;
}

/** Milliseconds that a peer has to acknowledge SETTINGS. */
const settingsTimeout = 10_000;
/** Milliseconds that a connection has after its last frame to send what was written. */
const lingerTimeout = 2_000;
/** Bytes that are read and dropped meanwhile. */
const lingerBytes = 1_048_576;
/** Frames that carry nothing and cost an answer or a look: burst, and rate per second. */
const controlBurst = 500;
const controlRate = 50;

/** The head that is being read: it is used up before the next one is, so all connections share it. */
const fields = new HeaderList();

/**
 * One HTTP/2 connection: what clients and backends have in common. A side extends it, and calls `begin` when it is complete. Nothing
 * in it waits: bytes of the socket become calls of the streams, and what those send leaves at the end of the turn.
 */
export abstract class Http2Connection extends ConnectionSender implements SocketOwner, FrameHandler {
  readonly #options: ConnectionOptions;
  readonly #reader: FrameReader;
  readonly #decoder = new HpackDecoder();
  readonly #controls: TokenBucket;
  /** The highest stream that the peer, or that we, have opened. */
  #lastStream = 0;
  /** Bytes that the peer may still send, and those that were read since the last WINDOW_UPDATE. */
  #window: number = initialWindow;
  #read = 0;
  /** The stream of the DATA frame that is being read; null: its bytes are dropped. */
  #dataStream: Http2Stream | null = null;
  #dataLength = 0;
  /** The final GOAWAY was sent: no more streams. */
  #finishing = false;
  #ended = false;
  #lost = false;
  #dropped = 0;
  #settingsSent = 0;
  readonly #headDeadline = new Deadline(() => this.connectionError(ResetCode.enhanceYourCalm));
  readonly #settingsDeadline = new Deadline(() => this.connectionError(ResetCode.settingsTimeout));
  readonly #linger = new Deadline(() => this.socket.destroy());

  constructor(socket: Socket, options: ConnectionOptions) {
    super(socket, options.sendTimeout);
    this.#options = options;
    this.#controls = new TokenBucket(controlBurst, controlRate, monotonic());
    this.#reader = new FrameReader(this, { maxBlockSize: options.maxHeaderListSize }, options.server);
  }

  // What a side implements

  /** A client opens a stream: returns it, constructed with `headRead`; null refuses it. Its `onOpen` gets the head. */
  protected abstract accept(): Http2Stream | null;
  /** The head of a stream that `accept` has returned. */
  protected abstract opened(stream: Http2Stream, head: HeaderList, endStream: boolean): void;
  /** The peer's SETTINGS are applied. */
  protected abstract settled(): void;
  /** The peer has sent GOAWAY: streams above `lastStream` were not processed. */
  protected abstract goingAway(lastStream: number, code: number): void;
  /** The peer has reset a stream, or made us reset it. */
  protected abstract streamBroken(): void;
  /** The socket is closed, and all streams are. */
  protected abstract lost(): void;
  /** Code of the side threw outside of any stream. */
  protected abstract unexpected(error: unknown): void;

  // What a side calls

  /** Sends the first frames. */
  protected begin(): void {
    const { server, settings, window, maxHeaderListSize } = this.#options;
    if (!server) this.output.raw(preface);
    this.output.settings([
      ...(server ? [] : [[Setting.enablePush, 0] as const]),
      [Setting.initialWindowSize, streamWindow],
      [Setting.maxHeaderListSize, maxHeaderListSize],
      ...settings,
    ]);
    this.#settingsSent++;
    this.#settingsDeadline.set(settingsTimeout, monotonic());
    this.output.windowUpdate(0, window - initialWindow);
    this.#window = window;
    this.flushNow();
  }

  /** Opens a stream of our own; its HEADERS must follow at once. */
  protected open(stream: Http2Stream): void {
    this.#lastStream += this.#lastStream === 0 ? 1 : 2;
    this.closedStreams.opened(this.#lastStream);
    this.register(stream, this.#lastStream);
  }

  /** No more ids are left for streams of our own. */
  protected get exhausted(): boolean {
    return this.#lastStream >= maxStreamId - 2;
  }

  /** Takes no more streams: sends the final GOAWAY, and closes when all streams have ended. */
  protected finish(): void {
    if (this.#finishing || this.#ended) return;
    this.#finishing = true;
    this.output.goaway(this.#options.server ? this.#lastStream : 0, ResetCode.noError);
    this.flushSoon();
    if (this.streams.size === 0) this.#end();
  }

  /** `finish` was called, or the connection has ended. */
  protected get finishing(): boolean {
    return this.#finishing || this.#ended;
  }

  /** The first GOAWAY of a graceful shutdown (RFC 9113 6.8): it refuses nothing. */
  protected announceGoaway(): void {
    if (this.finishing) return;
    this.output.goaway(maxStreamId, ResetCode.noError);
    this.flushSoon();
  }

  /** Ends the connection with all its streams. `code`: `ResetCode`. */
  connectionError(code: number): void {
    if (this.#ended) return;
    this.output.goaway(this.#options.server ? this.#lastStream : 0, code);
    this.#end();
    this.#closeStreams(code);
  }

  /** Useful work makes up for frames that carry nothing. */
  protected carried(): void {
    this.#controls.credit();
  }

  protected removed(_stream: Http2Stream): void {
    if (this.#finishing && this.streams.size === 0) this.#end();
  }

  /** Writes what is left, ends our side, and reads for a while: closing with unread bytes could reset the last frames away. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reader.stop();
    this.#headDeadline.clear();
    this.#settingsDeadline.clear();
    this.flushNow();
    this.socket.end();
    this.#linger.set(lingerTimeout, monotonic());
  }

  #closeStreams(code: number): void {
    for (const stream of [...this.streams.values()]) {
      this.streams.delete(stream.id);
      stream.close();
      stream.onReset(code, true);
      this.removed(stream);
    }
  }

  // Socket

  received(bytes: Uint8Array, length: number): boolean {
    if (this.#ended) {
      this.#dropped += length;
      return this.#dropped <= lingerBytes;
    }
    try {
      this.#reader.read(bytes, 0, length);
    } catch (error) {
      this.unexpected(error);
      this.connectionError(ResetCode.internalError);
    }
    if (!this.#reader.inHeaders) this.#headDeadline.clear();
    else if (!this.#headDeadline.pending) this.#headDeadline.set(this.#options.headTimeout, monotonic());
    this.flush();
    return this.#ended || this.mayRead();
  }

  /** The peer has ended its side. A half-closed connection is an abort. */
  ended(): void {
    this.socket.destroy();
  }

  closed(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#ended = true;
    this.#reader.stop();
    this.#headDeadline.clear();
    this.#settingsDeadline.clear();
    this.#linger.clear();
    this.stopSending();
    this.#closeStreams(ResetCode.cancel);
    this.lost();
  }

  // FrameHandler

  dataBegins(id: number, length: number): void {
    this.#dataStream = null;
    this.#dataLength = length;
    this.#window -= length;
    if (this.#window < 0) {
      this.connectionError(ResetCode.flowControlError);
      return;
    }
    this.#read += length;
    // The windows of the streams bound the memory; this one only follows.
    if (this.#read >= this.#options.window / 2) {
      this.#window += this.#read;
      this.output.windowUpdate(0, this.#read);
      this.#read = 0;
    }
    const stream = this.streams.get(id);
    if (stream === undefined) this.#onClosed(id);
    else if (stream.remoteEnded) this.connectionError(ResetCode.streamClosed);
    else {
      stream.receiveWindow -= length;
      if (stream.receiveWindow < 0) this.#break(stream, ResetCode.flowControlError);
      else this.#dataStream = stream;
    }
  }

  dataPiece(bytes: Uint8Array, start: number, end: number): void {
    const stream = this.#dataStream;
    if (stream === null || stream.closed) return;
    const wrong = stream.receiveData(bytes, start, end);
    if (wrong >= 0) this.#break(stream, wrong);
  }

  dataEnds(padding: number, endStream: boolean): void {
    if (this.#dataLength > padding) this.carried();
    else if (!endStream) this.#control();
    const stream = this.#dataStream;
    this.#dataStream = null;
    if (stream === null || stream.closed) return;
    const wrong = stream.receiveDataEnd(padding, endStream);
    if (wrong >= 0) this.#break(stream, wrong);
  }

  headers(id: number, bytes: Uint8Array, start: number, end: number, endStream: boolean, dependency: number): void {
    const { maxHeaderListSize, maxHeaderCount, server } = this.#options;
    fields.begin(maxHeaderListSize, maxHeaderCount);
    if (!this.#decoder.decode(bytes, start, end, fields)) {
      this.connectionError(ResetCode.compressionError);
      return;
    }
    const stream = this.streams.get(id);
    if (stream !== undefined) {
      if (stream.remoteEnded) this.connectionError(ResetCode.streamClosed);
      else if (dependency === id) this.#break(stream, ResetCode.protocolError);
      else {
        const wrong = stream.receiveHeaders(fields, endStream);
        if (wrong >= 0 && !stream.closed) this.#break(stream, wrong);
      }
    } else if (id <= this.#lastStream && (id & 1) === 1) {
      if (this.closedStreams.of(id) === ClosedBy.unknown) this.connectionError(ResetCode.protocolError);
      else this.#onClosed(id);
    } else if (!server || (id & 1) === 0) this.connectionError(ResetCode.protocolError);
    else this.#openByPeer(id, endStream, dependency);
  }

  #openByPeer(id: number, endStream: boolean, dependency: number): void {
    // RFC 9113 6.8: the client knows that these were not processed.
    if (this.#finishing) return;
    this.#lastStream = id;
    this.closedStreams.opened(id);
    const stream = dependency === id ? null : this.accept();
    if (this.#ended) return;
    if (stream === null) {
      this.closedStreams.closed(id, ClosedBy.us);
      this.output.reset(id, dependency === id ? ResetCode.protocolError : ResetCode.refusedStream);
      if (dependency === id) this.streamBroken();
      return;
    }
    this.register(stream, id);
    stream.remoteEnded = endStream;
    this.opened(stream, fields, endStream);
  }

  /** A frame for a stream that is not open. */
  #onClosed(id: number): void {
    if (id > this.#lastStream && this.#finishing && this.#options.server) return;
    const how = this.#isIdle(id) ? null : this.closedStreams.of(id);
    if (how === null) this.connectionError(ResetCode.protocolError);
    else if (how === ClosedBy.end) this.connectionError(ResetCode.streamClosed);
    else if (how === ClosedBy.peer) {
      this.output.reset(id, ResetCode.streamClosed);
      this.streamBroken();
    } else this.#control();
  }

  /** It was never opened: not even by one with a higher number. */
  #isIdle(id: number): boolean {
    return (id & 1) === 0 || id > this.#lastStream;
  }

  streamError(id: number, code: number): void {
    const stream = this.streams.get(id);
    if (stream !== undefined) this.#break(stream, code);
    else if (this.#isIdle(id)) this.connectionError(code);
    else this.#control();
  }

  /** Resets a stream because of what the peer sent on it. */
  #break(stream: Http2Stream, code: number): void {
    if (stream.closed) return;
    this.sendReset(stream, code);
    stream.onReset(code, false);
    this.streamBroken();
  }

  priority(id: number, dependency: number): void {
    if (dependency === id) this.streamError(id, ResetCode.protocolError);
    this.#control();
  }

  reset(id: number, code: number): void {
    const stream = this.streams.get(id);
    if (stream === undefined) {
      if (this.#isIdle(id)) this.connectionError(ResetCode.protocolError);
      else this.#control();
      return;
    }
    this.forget(stream, ClosedBy.peer);
    stream.onReset(code, true);
    this.streamBroken();
  }

  settings(bytes: Uint8Array, start: number, end: number): void {
    const { peerSettings } = this;
    const before = peerSettings.initialWindowSize;
    const wrong = peerSettings.apply(bytes, start, end, !this.#options.server);
    if (wrong !== 0) {
      this.connectionError(wrong);
      return;
    }
    this.encoder.setMaxTableSize(peerSettings.headerTableSize);
    const change = peerSettings.initialWindowSize - before;
    if (change !== 0 && !this.#changeWindows(change)) return;
    this.output.settingsAck();
    this.#control();
    this.settled();
  }

  #changeWindows(change: number): boolean {
    for (const stream of this.streams.values()) {
      stream.sendWindow += change;
      if (stream.sendWindow > maxWindow) {
        this.connectionError(ResetCode.flowControlError);
        return false;
      }
      this.widened(stream);
    }
    this.pump();
    return true;
  }

  settingsAcknowledged(): void {
    if (this.#settingsSent === 0) this.connectionError(ResetCode.protocolError);
    else if (--this.#settingsSent === 0) this.#settingsDeadline.clear();
  }

  ping(bytes: Uint8Array, start: number, ack: boolean): void {
    if (!ack) this.output.ping(bytes, start, true);
    this.#control();
  }

  goaway(lastStream: number, code: number): void {
    this.#control();
    this.goingAway(lastStream, code);
  }

  windowUpdate(id: number, increment: number): void {
    // Ordinary ones let us send more than this.
    if (increment < minIncrement) this.#control();
    if (id === 0) {
      if (increment === 0) this.connectionError(ResetCode.protocolError);
      else if (this.widen(increment) > maxWindow) this.connectionError(ResetCode.flowControlError);
      else this.pump();
      return;
    }
    const stream = this.streams.get(id);
    if (stream === undefined) {
      if (this.#isIdle(id)) this.connectionError(ResetCode.protocolError);
      return;
    }
    stream.sendWindow += increment;
    if (increment === 0) this.#break(stream, ResetCode.protocolError);
    else if (stream.sendWindow > maxWindow) {
      // Either would do (RFC 9113 6.9.1). Two sides that disagree about a window disagree about the others, too.
      this.#break(stream, ResetCode.flowControlError);
      this.connectionError(ResetCode.flowControlError);
    } else {
      this.widened(stream);
      this.pump();
    }
  }

  unknown(): void {
    this.#control();
  }

  #control(): void {
    if (!this.#controls.take(monotonic())) this.connectionError(ResetCode.enhanceYourCalm);
  }
}

const minIncrement = 1024;
