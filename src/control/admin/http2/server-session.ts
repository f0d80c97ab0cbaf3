import type { TLSSocket } from 'node:tls';
import { refusedBurst, refusedRate, resetBurst, resetRate } from '../../../shared/http2/connection/client-budget.ts';
import { Http2Connection } from '../../../shared/http2/connection/connection.ts';
import { streamWindow } from '../../../shared/http2/connection/stream.ts';
import { TokenBucket } from '../../../shared/http2/connection/token-bucket.ts';
import { ResetCode, Setting } from '../../../shared/http2/frames/codes.ts';
import type { HeaderList } from '../../../shared/http2/hpack/header-list.ts';
import { malformed } from '../../../shared/http2/request-fields.ts';
import { monotonic } from '../../../shared/util/time/clock.ts';
import { Deadline } from '../../../shared/util/time/deadlines.ts';
import type { BridgeSocket } from './bridge-socket.ts';
import { requestHead } from './request-head.ts';
import { ServerStream, type StreamOwner } from './server-stream.ts';

/** Streams that a client may have open at once. */
const maxStreams = 100;
/** Bytes and fields of a header list. Node's server answers 431 to heads above 16 KiB itself. */
const maxHeaderList = 32_768;
const maxHeaderCount = 128;

const settings: readonly (readonly [number, number])[] = [[Setting.maxConcurrentStreams, maxStreams]];

/** Milliseconds. */
export interface SessionTimeouts {
  /** For a head, and for the first request. */
  readonly head: number;
  /** For which a connection without requests is kept. */
  readonly idle: number;
  /** In which a client must take something of an answer. */
  readonly send: number;
}

/** Where the requests of a session go. */
export interface SessionHost {
  /** Node's server for HTTP/1.1 receives a connection. */
  serve(socket: BridgeSocket): void;
  closed(session: ServerSession): void;
  /** It is closing connections that it takes for idle. */
  readonly sweeping: boolean;
}

/** One HTTP/2 connection of a client. */
export class ServerSession extends Http2Connection implements StreamOwner {
  readonly tls: TLSSocket;
  readonly #host: SessionHost;
  readonly #idleTimeout: number;
  readonly #idle: Deadline;
  readonly #resets: TokenBucket;
  readonly #refused: TokenBucket;

  constructor(tls: TLSSocket, timeouts: SessionTimeouts, host: SessionHost) {
    super(tls, {
      server: true,
      settings,
      // The windows of all streams together.
      window: maxStreams * streamWindow,
      maxHeaderListSize: maxHeaderList,
      maxHeaderCount,
      headTimeout: timeouts.head,
      sendTimeout: timeouts.send,
    });
    const now = monotonic();
    this.tls = tls;
    this.#host = host;
    this.#idleTimeout = timeouts.idle;
    this.#resets = new TokenBucket(resetBurst, resetRate, now);
    this.#refused = new TokenBucket(refusedBurst, refusedRate, now);
    this.#idle = new Deadline(() => this.finish());
    this.#idle.set(timeouts.head, now);
    this.begin();
  }

  /** Accepts no more streams, and closes when those in flight have ended. */
  drain(): void {
    this.finish();
  }

  get sweeping(): boolean {
    return this.#host.sweeping;
  }

  serve(socket: BridgeSocket): void {
    this.#host.serve(socket);
  }

  /** As with HTTP/1.1, where Node calls the server's code by itself. */
  failed(error: unknown): void {
    process.nextTick(() => {
      throw error;
    });
  }

  // Http2Connection

  protected accept(): ServerStream | null {
    if (this.streams.size < maxStreams) return new ServerStream(this);
    if (!this.#refused.take(monotonic())) this.connectionError(ResetCode.enhanceYourCalm);
    return null;
  }

  protected opened(stream: ServerStream, fields: HeaderList, endStream: boolean): void {
    this.#idle.clear();
    const head = requestHead(fields, endStream);
    if (head === malformed) {
      this.sendReset(stream, ResetCode.protocolError);
      this.streamBroken();
    } else if ('refused' in head) {
      stream.refuse(head.refused);
      // Over HTTP/1.1 it would have cost the connection.
      this.streamBroken();
    } else stream.begin(head);
  }

  protected override removed(stream: ServerStream): void {
    super.removed(stream);
    if (this.streams.size === 0 && !this.finishing) this.#idle.set(this.#idleTimeout, monotonic());
  }

  protected streamBroken(): void {
    if (!this.#resets.take(monotonic())) this.connectionError(ResetCode.enhanceYourCalm);
  }

  protected settled(): void {}

  protected goingAway(): void {}

  protected lost(): void {
    this.#idle.clear();
    this.#host.closed(this);
  }

  protected unexpected(error: unknown): void {
    this.failed(error);
  }
}
