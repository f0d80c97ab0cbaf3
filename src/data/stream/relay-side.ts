import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { writeCopy } from '../../shared/util/bytes/write-copy.ts';
import type { SocketOwner } from '../../shared/util/net/socket-owner.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';

/** One of the two connections of a relay. */
export class RelaySide implements SocketOwner {
  /** Set before the first event. */
  socket: Socket | null = null;
  partner: RelaySide | null = null;
  /** Bytes received from it. */
  bytes = 0;
  /** Bytes written to it. */
  sent = 0;
  open = true;
  readonly #sendTimeout: number;
  readonly #touched: () => void;
  readonly #closed: () => void;
  readonly #deadline = new Deadline(() => this.#late());
  /** Bytes that the system had not accepted yet when the deadline was set. */
  #queued = 0;
  #hasEnded = false;

  constructor(sendTimeout: number, touched: () => void, closed: () => void) {
    this.#sendTimeout = sendTimeout;
    this.#touched = touched;
    this.#closed = closed;
  }

  received(bytes: Uint8Array, length: number): boolean {
    this.bytes += length;
    this.#touched();
    return this.partner?.send(bytes, length) ?? false;
  }

  /** False: its buffer is full, and it resumes the partner later. The bytes are copied. */
  send(bytes: Uint8Array, length: number): boolean {
    if (!this.open || this.socket === null) return false;
    this.sent += length;
    if (writeCopy(this.socket, bytes, 0, length)) return true;
    this.#expectProgress();
    return false;
  }

  writable(): void {
    this.#deadline.clear();
    this.partner?.socket?.resume();
  }

  ended(): void {
    this.#hasEnded = true;
    this.#touched();
    if (this.partner?.open === true) this.partner.socket?.end();
  }

  closed(): void {
    if (!this.open) return;
    this.open = false;
    this.#deadline.clear();
    // Anything but an end from both sides is a broken transfer, and must not look like a complete one.
    if (!this.#hasEnded || this.socket?.writableFinished !== true) this.partner?.breakOff();
    this.#closed();
  }

  /** The partner has closed without an end: this side breaks too, once it has received the earlier bytes. */
  breakOff(): void {
    if (!this.open || this.socket === null) return;
    if (this.socket.writableLength === 0) {
      this.#break();
      return;
    }
    this.#expectProgress();
    // After the earlier bytes; `drain` is emitted only after a write above the limit.
    this.socket.write(nothing, () => this.#break());
  }

  /** By a reset, also below TLS: many clients take the end of a connection for the end of the transfer. */
  #break(): void {
    if (this.socket === null || this.socket.destroyed) return;
    const raw = this.socket instanceof TLSSocket ? rawSocketOf(this.socket) : this.socket;
    if (raw !== null && !raw.destroyed) raw.resetAndDestroy();
    this.socket.destroy();
  }

  #expectProgress(): void {
    this.#queued = queueOf(this.socket);
    this.#deadline.set(this.#sendTimeout, monotonic());
  }

  /** A side that accepts bytes slowly is alive. */
  #late(): void {
    if (queueOf(this.socket) < this.#queued) this.#expectProgress();
    else this.socket?.destroy();
  }
}

const nothing = Buffer.alloc(0);

/** Null: the socket has opened its connection itself. */
function rawSocketOf(socket: TLSSocket): Socket | null {
  return (socket as unknown as { readonly _parent?: Socket | null })._parent ?? null;
}

/** Bytes that were written and that the system has not accepted yet. */
function queueOf(socket: Socket | null): number {
  const internals = socket as { readonly _handle?: { readonly writeQueueSize?: number } | null } | null;
  return internals?._handle?.writeQueueSize ?? 0;
}
