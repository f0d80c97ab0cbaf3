import type { Socket } from 'node:net';
import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import type { Exchange } from '../request/exchange.ts';
import type { ResponseListener } from '../upstream/upstream-link.ts';
import { writePiece } from './response-writer.ts';

const noTimeouts: UpstreamTimeouts = Object.freeze({ connect: 0, send: 0, firstByte: 0, idle: 0, total: 0 });

/** What a backend connection reads. */
export const Mode = { idle: 0, head: 1, body: 2, tunnel: 3, closed: 4 } as const;
export type Mode = (typeof Mode)[keyof typeof Mode];

/** The writing half of a backend connection: the request, and the timeouts of both directions. */
export abstract class UpstreamWriter {
  readonly socket: Socket;
  protected readonly listener: ResponseListener;
  protected mode: Mode = Mode.idle;
  protected exchange: Exchange | null = null;
  /** It was kept idle, so the backend may have closed it meanwhile. */
  reused = false;
  #requestChunked = false;
  protected requestComplete = true;
  #timeouts: UpstreamTimeouts = noTimeouts;
  protected readonly deadline = new Deadline(() => this.expired());
  protected waitingFor: 'read' | 'write' = 'read';
  /** Paused until the client reads. */
  protected paused = false;

  constructor(socket: Socket, listener: ResponseListener) {
    this.socket = socket;
    this.listener = listener;
  }

  protected abstract expired(): void;

  protected sendHead(
    exchange: Exchange,
    head: string,
    bodyLength: number,
    timeouts: UpstreamTimeouts,
    now: number,
  ): void {
    this.exchange = exchange;
    this.mode = Mode.head;
    this.#requestChunked = bodyLength < 0;
    this.requestComplete = bodyLength === 0;
    this.#timeouts = timeouts;
    this.socket.write(head, 'latin1');
    // While the client still sends, the backend's timeout does not run.
    if (this.requestComplete) this.wait('read', now);
  }

  bodyData(bytes: Uint8Array, start: number, end: number): void {
    const exchange = this.exchange;
    if (exchange === null || this.mode === Mode.closed) return;
    const chunked = this.#requestChunked && this.mode !== Mode.tunnel;
    if (!writePiece(this.socket, bytes, start, end, chunked)) {
      this.wait('write', monotonic());
      exchange.downstream.pauseBody(exchange);
    } else if (this.mode === Mode.tunnel) this.wait('read', monotonic());
  }

  bodyEnd(trailers: string): void {
    if (this.mode === Mode.tunnel) {
      this.socket.end();
      return;
    }
    if (this.exchange === null || this.requestComplete) return;
    if (this.#requestChunked) this.socket.write(`0\r\n${trailers}\r\n`, 'latin1');
    this.requestComplete = true;
    const blocked = this.waitingFor === 'write' && this.deadline.pending;
    if (this.mode === Mode.head && !blocked) this.wait('read', monotonic());
  }

  writable(): void {
    const exchange = this.exchange;
    if (exchange === null) return;
    if (this.waitingFor === 'write') {
      this.deadline.clear();
      if (this.requestComplete || this.mode !== Mode.head) this.wait('read', monotonic());
    }
    this.listener.upstreamDrained(exchange);
  }

  pause(): void {
    this.paused = true;
    if (this.waitingFor === 'read') this.deadline.clear();
    this.socket.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.wait('read', monotonic());
    this.socket.resume();
  }

  /** Idle in the pool: closes unless it is taken within the time. */
  park(milliseconds: number, now: number): void {
    this.waitingFor = 'read';
    this.deadline.set(milliseconds, now);
  }

  unpark(): void {
    this.reused = true;
    this.deadline.clear();
  }

  protected wait(forWhat: 'read' | 'write', now: number): void {
    if (this.paused && forWhat === 'read') return;
    this.waitingFor = forWhat;
    const { send, firstByte, idle } = this.#timeouts;
    this.deadline.set(forWhat === 'write' ? send : this.mode === Mode.head ? firstByte : idle, now);
  }
}
