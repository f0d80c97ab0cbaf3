import type { Socket } from 'node:net';
import type { SocketOwner } from '../../util/net/socket-owner.ts';
import { monotonic } from '../../util/time/clock.ts';
import { Deadline } from '../../util/time/deadlines.ts';
import { initialWindow, maxStreamId, preface, ResetCode, Setting } from '../frames/codes.ts';
import type { FrameReader } from '../frames/frame-reader.ts';
import { ConnectionSender } from './connection-sender.ts';
import { gathered } from './gathered-data.ts';
import { type Http2Stream, streamWindow } from './stream.ts';

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
/** A read of this many bytes is a part of a long body: what it causes waits for the other reads of the turn. */
const minLongRead = 8_192;
/** Bytes of output that may wait for that. */
const maxDelayed = 1_024;

/** How a connection begins and ends. */
export abstract class ConnectionLife extends ConnectionSender implements SocketOwner {
  protected abstract readonly reader: FrameReader;
  protected readonly options: ConnectionOptions;
  /** The highest stream that the peer, or that we, have opened. */
  protected lastStream = 0;
  /** The final GOAWAY was sent: no more streams. */
  #finishing = false;
  /** The last frame was sent. */
  #ended = false;
  #lost = false;
  #dropped = 0;
  #settingsSent = 0;
  readonly #headDeadline = new Deadline(() => this.connectionError(ResetCode.enhanceYourCalm));
  readonly #settingsDeadline = new Deadline(() => this.connectionError(ResetCode.settingsTimeout));
  readonly #linger = new Deadline(() => this.socket.destroy());

  constructor(socket: Socket, options: ConnectionOptions) {
    super(socket, options.sendTimeout);
    this.options = options;
  }

  /** The socket is closed, and all streams are. */
  protected abstract lost(): void;
  /** Code of the side threw outside of any stream. */
  protected abstract unexpected(error: unknown): void;

  /** Sends the first frames. */
  protected begin(): void {
    const { server, settings, window, maxHeaderListSize } = this.options;
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
    this.flushNow();
  }

  /** Opens a stream of our own; its HEADERS must follow at once. */
  protected open(stream: Http2Stream): void {
    this.lastStream += this.lastStream === 0 ? 1 : 2;
    this.closedStreams.opened(this.lastStream);
    this.register(stream, this.lastStream);
  }

  /** No more ids are left for streams of our own. */
  protected get exhausted(): boolean {
    return this.lastStream >= maxStreamId - 2;
  }

  /** Takes no more streams: sends the final GOAWAY, and closes when all streams have ended. */
  protected finish(): void {
    if (this.#finishing || this.#ended) return;
    this.#finishing = true;
    this.output.goaway(this.options.server ? this.lastStream : 0, ResetCode.noError);
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
    this.output.goaway(this.options.server ? this.lastStream : 0, code);
    this.#end();
    this.#closeStreams(code);
  }

  /** The peer has acknowledged SETTINGS. False: there were none to acknowledge. */
  protected acknowledged(): boolean {
    if (this.#settingsSent === 0) return false;
    this.#settingsSent--;
    this.#settingsDeadline.clear();
    return true;
  }

  protected removed(_stream: Http2Stream): void {
    if (this.#finishing && this.streams.size === 0) this.#end();
  }

  /** Writes what is left, ends our side, and reads for a while: closing with unread bytes could lose the last frames. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.reader.stop();
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
    let later = false;
    try {
      this.reader.read(bytes, 0, length);
      // More is likely to follow. TLS may pass on the head of a frame by itself.
      const more = length >= minLongRead || gathered.scheduled;
      later = more && this.options.server && this.output.size < maxDelayed;
      if (later) gathered.passOnLater();
      else gathered.passOn();
    } catch (error) {
      this.unexpected(error);
      this.connectionError(ResetCode.internalError);
    }
    if (!this.reader.inHeaders) this.#headDeadline.clear();
    else if (!this.#headDeadline.pending) this.#headDeadline.set(this.options.headTimeout, monotonic());
    if (later) this.flushSoon();
    else this.flush();
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
    this.reader.stop();
    this.#headDeadline.clear();
    this.#settingsDeadline.clear();
    this.#linger.clear();
    this.stopSending();
    this.#closeStreams(ResetCode.cancel);
    this.lost();
  }
}
