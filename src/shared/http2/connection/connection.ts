import type { Socket } from 'node:net';
import { monotonic } from '../../util/time/clock.ts';
import { maxWindow, ResetCode } from '../frames/codes.ts';
import { type FrameHandler, FrameReader } from '../frames/frame-reader.ts';
import { HeaderList } from '../hpack/header-list.ts';
import { HpackDecoder } from '../hpack/hpack-decoder.ts';
import { ClosedBy } from './closed-streams.ts';
import { ConnectionLife, type ConnectionOptions } from './connection-life.ts';
import { gathered } from './gathered-data.ts';
import type { Http2Stream } from './stream.ts';
import { TokenBucket } from './token-bucket.ts';

/** Frames that carry nothing and cost an answer or a look: burst, and rate per second. */
export const controlBurst = 500;
const controlRate = 50;

/** Frames that a connection may waste without a further look: about what it cost to open it. */
export const freeFrames = 64;

/** The head that is being read: it is used up before the next one is, so all connections share it. */
const fields = new HeaderList();

/**
 * One HTTP/2 connection: what clients and backends have in common. A side extends it, and calls `begin` when it is complete. Nothing
 * in it waits: bytes of the socket become calls of the streams, and what those send leaves at the end of the turn.
 */
export abstract class Http2Connection extends ConnectionLife implements FrameHandler {
  protected readonly reader: FrameReader;
  readonly #decoder = new HpackDecoder();
  readonly #controls: TokenBucket;
  /** Bytes that the peer may still send, and those that were read since the last WINDOW_UPDATE. */
  #window: number;
  #read = 0;
  /** The stream of the DATA frame that is being read; null: its bytes are dropped. */
  #dataStream: Http2Stream | null = null;
  #dataLength = 0;

  constructor(socket: Socket, options: ConnectionOptions) {
    super(socket, options);
    this.#window = options.window;
    this.#controls = new TokenBucket(controlBurst, controlRate, monotonic());
    this.reader = new FrameReader(this, { maxBlockSize: options.maxHeaderListSize }, options.server);
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
  /** The peer has sent a frame that carries nothing, and more of them than any needs that were not made up for. */
  protected wasted(): void {}

  /** Useful work makes up for frames that carry nothing. */
  protected carried(): void {
    this.#controls.credit();
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
    if (this.#read >= this.options.window / 2) {
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
    if (stream !== null && !stream.closed) gathered.add(this, stream, bytes, start, end);
  }

  /** Data that was gathered. */
  takeData(stream: Http2Stream, bytes: Uint8Array, size: number): void {
    if (stream.closed) return;
    try {
      const wrong = stream.receiveData(bytes, 0, size);
      if (wrong >= 0) this.#break(stream, wrong);
    } catch (error) {
      // It can happen while another connection is being read, which must not pay for it.
      this.unexpected(error);
      this.connectionError(ResetCode.internalError);
    }
  }

  dataEnds(padding: number, endStream: boolean): void {
    if (this.#dataLength > padding) this.carried();
    else if (!endStream) this.#control();
    const stream = this.#dataStream;
    this.#dataStream = null;
    if (endStream) gathered.passOn();
    if (stream === null || stream.closed) return;
    const wrong = stream.receiveDataEnd(padding, endStream);
    if (wrong >= 0) this.#break(stream, wrong);
  }

  headers(id: number, bytes: Uint8Array, start: number, end: number, endStream: boolean, dependency: number): void {
    gathered.passOn();
    const { maxHeaderListSize, maxHeaderCount, server } = this.options;
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
    } else if (id <= this.lastStream && (id & 1) === 1) {
      if (this.closedStreams.of(id) === ClosedBy.unknown) this.connectionError(ResetCode.protocolError);
      else this.#onClosed(id);
    } else if (!server || (id & 1) === 0) this.connectionError(ResetCode.protocolError);
    else this.#openByPeer(id, endStream, dependency);
  }

  #openByPeer(id: number, endStream: boolean, dependency: number): void {
    // RFC 9113 6.8: the client knows that these were not processed.
    if (this.finishing) return;
    this.lastStream = id;
    this.closedStreams.opened(id);
    const stream = dependency === id ? null : this.accept();
    if (this.finishing) return;
    if (stream === null) {
      this.closedStreams.closed(id, ClosedBy.us);
      this.output.reset(id, dependency === id ? ResetCode.protocolError : ResetCode.refusedStream);
      if (dependency === id) this.streamBroken(null);
      return;
    }
    this.register(stream, id);
    stream.remoteEnded = endStream;
    this.opened(stream, fields, endStream);
  }

  /** A frame for a stream that is not open. */
  #onClosed(id: number): void {
    if (this.#isIgnored(id)) return;
    const how = this.#isIdle(id) ? null : this.closedStreams.of(id);
    if (how === null) this.connectionError(ResetCode.protocolError);
    else if (how === ClosedBy.end) this.connectionError(ResetCode.streamClosed);
    else if (how === ClosedBy.peer) {
      this.output.reset(id, ResetCode.streamClosed);
      this.streamBroken(null);
    } else this.#control();
  }

  /** It was never opened: not even by one with a higher number. */
  #isIdle(id: number): boolean {
    return ((id & 1) === 0 || id > this.lastStream) && !this.#isIgnored(id);
  }

  /** A stream that the client has opened behind the final GOAWAY, as far as is known. */
  #isIgnored(id: number): boolean {
    return id > this.lastStream && (id & 1) === 1 && this.finishing && this.options.server;
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
    this.streamBroken(stream);
  }

  priority(id: number, dependency: number): void {
    if (dependency === id) this.streamError(id, ResetCode.protocolError);
    this.#control();
  }

  reset(id: number, code: number): void {
    gathered.passOn();
    const stream = this.streams.get(id);
    if (stream === undefined) {
      if (this.#isIdle(id)) this.connectionError(ResetCode.protocolError);
      else this.#control();
      return;
    }
    this.forget(stream, ClosedBy.peer);
    stream.onReset(code, true);
    this.streamBroken(stream);
  }

  settings(bytes: Uint8Array, start: number, end: number): void {
    const { peerSettings } = this;
    const before = peerSettings.initialWindowSize;
    const wrong = peerSettings.apply(bytes, start, end, !this.options.server);
    if (wrong !== 0) {
      this.connectionError(wrong);
      return;
    }
    this.encoder.setMaxTableSize(peerSettings.headerTableSize);
    const change = peerSettings.initialWindowSize - before;
    // Ahead of what the new windows allow: until then the peer expects the old ones to be respected.
    this.output.settingsAck();
    if (change !== 0 && !this.#changeWindows(change)) return;
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
    if (!this.acknowledged()) this.connectionError(ResetCode.protocolError);
  }

  ping(bytes: Uint8Array, start: number, ack: boolean): void {
    if (!ack) this.output.ping(bytes, start, true);
    this.#control();
  }

  goaway(lastStream: number, code: number): void {
    gathered.passOn();
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
    else if (this.#controls.spent > freeFrames) this.wasted();
  }
}

const minIncrement = 1024;
