import type { Socket } from 'node:net';
import { refusedBurst, refusedRate, resetBurst, resetRate } from '../../shared/http2/connection/client-budget.ts';
import { controlBurst, freeFrames, Http2Connection } from '../../shared/http2/connection/connection.ts';
import { streamWindow } from '../../shared/http2/connection/stream.ts';
import { TokenBucket } from '../../shared/http2/connection/token-bucket.ts';
import { ResetCode, Setting } from '../../shared/http2/frames/codes.ts';
import type { HeaderList } from '../../shared/http2/hpack/header-list.ts';
import { malformed } from '../../shared/http2/request-fields.ts';
import { requestId } from '../../shared/util/request-ids.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { ParsedRequest } from '../http1/parsed-request.ts';
import { type ClientConnection, firstRequestGrace } from '../request/downstream.ts';
import type { DownstreamHost } from '../request/downstream-host.ts';
import { type DownstreamPeer, Exchange } from '../request/exchange.ts';
import { parseStreamHead, streamRequestLine } from './downstream-head.ts';
import { DownstreamStream, type StreamOwner } from './downstream-stream.ts';

/** Streams that a client may have open at once; nginx's default. */
const maxStreams = 128;
/** A header list above this is refused without an answer; a head above our own limit, which is smaller, gets one. */
const maxHeaderList = 65_535;
/** Calls of `closeAnnounced` without a new stream, each a second after the other, before the final GOAWAY. */
const quietCallsToClose = 3;
/** A connection that the client made end, as a fraction of a connection's budget: opening it was most of its cost. */
const violationShare = 1 / 20;

const settings: readonly (readonly [number, number])[] = [
  [Setting.maxConcurrentStreams, maxStreams],
  [Setting.enableConnectProtocol, 1],
];

/** Errors that a network causes, or the gateway itself. */
const notTheClient: ReadonlySet<number> = new Set([ResetCode.settingsTimeout, ResetCode.internalError]);

/** One HTTP/2 connection of a client: every stream on it is an exchange of its own. */
export class DownstreamSession extends Http2Connection implements ClientConnection, StreamOwner {
  readonly peer: DownstreamPeer;
  readonly host: DownstreamHost;
  readonly #idle: Deadline;
  readonly #resets: TokenBucket;
  readonly #refused: TokenBucket;
  #draining = false;
  /** Streams that were broken, and those of them that answered requests made up for. */
  #broken = 0;
  #madeUp = 0;
  #failed = false;
  /** See `closeAnnounced`. */
  #requestsSeen = 0;
  #quietCalls = 0;

  constructor(socket: Socket, peer: DownstreamPeer, host: DownstreamHost) {
    const { limits } = host;
    super(socket, {
      server: true,
      settings,
      // The windows of all streams together.
      window: maxStreams * streamWindow,
      maxHeaderListSize: Math.min(maxHeaderList, limits.maxHeadSize * 2),
      maxHeaderCount: limits.maxHeaderCount + 16,
      headTimeout: limits.headTimeout,
      sendTimeout: limits.sendTimeout,
    });
    const now = monotonic();
    this.peer = peer;
    this.host = host;
    this.#resets = new TokenBucket(resetBurst, resetRate, now);
    this.#refused = new TokenBucket(refusedBurst, refusedRate, now);
    this.#idle = new Deadline(() => this.finish());
    this.#idle.set(limits.headTimeout, now);
    this.begin();
    if (!host.budgets.admits(peer)) this.#refuse();
    else if (host.draining) this.announceEnd();
  }

  // ClientConnection

  announceEnd(): void {
    this.announceGoaway();
  }

  /**
   * Called at intervals: the final GOAWAY follows when the client has opened no stream for some of them. A stream that is on its way
   * would be refused. A PING would not help: clients on nghttp2 answer none once they have read a GOAWAY.
   */
  closeAnnounced(): void {
    const { requests } = this.peer;
    const quiet = this.streams.size === 0 && requests === this.#requestsSeen;
    this.#requestsSeen = requests;
    this.#quietCalls = quiet ? this.#quietCalls + 1 : 0;
    if (this.#quietCalls >= quietCallsToClose && !this.#draining) this.drain();
  }

  endStreams(): void {
    for (const stream of [...this.streams.values()]) (stream as DownstreamStream).endStream();
  }

  /** Accepts no more streams; those in flight finish, and a new session may still open its first ones. */
  drain(): void {
    this.#draining = true;
    if (this.peer.requests === 0) this.#idle.set(firstRequestGrace, monotonic());
    else this.finish();
  }

  // Http2Connection

  protected accept(): DownstreamStream | null {
    if (this.streams.size < maxStreams) return new DownstreamStream(this);
    if (!this.#refused.take(monotonic())) this.connectionError(ResetCode.enhanceYourCalm);
    else if (this.#refused.spent > freeFrames) this.#charge(1 / refusedBurst, 'refused streams');
    return null;
  }

  protected opened(stream: DownstreamStream, head: HeaderList, endStream: boolean): void {
    this.#idle.clear();
    this.peer.requests++;
    try {
      this.#request(stream, head, endStream);
    } catch (error) {
      stream.unexpected(error);
    }
    if (this.peer.requests >= this.host.limits.keepaliveRequests) this.finish();
  }

  #request(stream: DownstreamStream, fields: HeaderList, endStream: boolean): void {
    const { limits, snapshots } = this.host;
    const head = parseStreamHead(fields, endStream, limits);
    if (head === malformed) {
      this.sendReset(stream, ResetCode.protocolError);
      this.streamBroken(stream);
    } else if (!(head instanceof ParsedRequest)) {
      stream.refuse(head, streamRequestLine(fields));
      // Over HTTP/1.1 it would have cost the connection.
      this.streamBroken(stream);
    } else {
      const id = requestId();
      stream.begin(new Exchange(stream, this.peer, head, snapshots.current, id, Date.now(), monotonic()));
    }
  }

  protected override removed(stream: DownstreamStream): void {
    super.removed(stream);
    if (this.streams.size > 0 || this.finishing) return;
    if (this.#draining) this.finish();
    else this.#idle.set(this.host.limits.keepaliveTimeout, monotonic());
  }

  protected streamBroken(stream: DownstreamStream | null): void {
    if (!this.#resets.take(monotonic())) {
      this.connectionError(ResetCode.enhanceYourCalm);
      return;
    }
    this.#broken++;
    if (stream?.answering === true) return;
    if (this.#unusedAnswers > 0) this.#madeUp++;
    else this.#charge(1 / resetBurst, 'streams that were reset');
  }

  /** Requests that were answered and have not made up for a broken stream. */
  get #unusedAnswers(): number {
    return this.peer.requests - this.#broken - this.streams.size - this.#madeUp;
  }

  override closed(): void {
    this.#chargeOpenStreams();
    super.closed();
  }

  /** To end requests with their connection costs as much as to reset each. */
  #chargeOpenStreams(): void {
    if (this.streams.size === 0) return;
    let unpaid = -Math.max(0, this.#unusedAnswers);
    for (const stream of this.streams.values()) if (!(stream as DownstreamStream).answering) unpaid++;
    if (unpaid > 0) this.host.budgets.charge(this.peer, unpaid / resetBurst, 'streams that were reset');
  }

  protected override wasted(): void {
    this.#charge(1 / controlBurst, 'frames that carry nothing');
  }

  override connectionError(code: number): void {
    if (!this.#failed && !notTheClient.has(code)) {
      this.#failed = true;
      // ENHANCE_YOUR_CALM has a cause of its own, which was charged before.
      const cause = code === ResetCode.enhanceYourCalm ? '' : 'connections that broke the protocol';
      this.host.budgets.charge(this.peer, violationShare, cause);
      this.#chargeOpenStreams();
    }
    super.connectionError(code);
  }

  /** The address pays, too. */
  #charge(share: number, cause: string): void {
    const { peer, host } = this;
    if (this.#failed || host.budgets.charge(peer, share, cause)) return;
    host.budgets.ended(peer);
    this.connectionError(ResetCode.enhanceYourCalm);
  }

  /** Its address has used up its budget: nothing was read, and nothing is charged. */
  #refuse(): void {
    this.#failed = true;
    this.connectionError(ResetCode.enhanceYourCalm);
  }

  protected settled(): void {}

  protected goingAway(): void {}

  protected lost(): void {
    this.#idle.clear();
    this.host.closed(this);
  }

  protected unexpected(error: unknown): void {
    this.host.unexpected(null, error);
  }
}
