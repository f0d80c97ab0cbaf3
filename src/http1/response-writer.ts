import type { Socket } from 'node:net';
import { monotonic } from '../util/clock.ts';
import { Deadline } from '../util/deadlines.ts';
import { latin1 } from '../util/latin1.ts';
import { writeCopy } from '../util/write-copy.ts';

/** Pieces up to here leave as text, in one write with what stands before them. */
const maxJoinedBytes = 16_384;

/** How the body of an answer is framed for this client. */
export type BodyFraming = 'none' | 'length' | 'chunked' | 'close';

/** Writes the answers of one client connection. A head is held back to leave in one write with the first body bytes. */
export class ResponseWriter {
  readonly #socket: Socket;
  readonly #sendTimeout: number;
  readonly #deadline: Deadline;
  #head = '';
  /** Bytes that waited for the client when it was last looked at. */
  #unsent = 0;
  #framing: BodyFraming = 'none';
  /** The client does not take what was written: nothing more may be begun until it does. */
  blocked = false;

  /** `sendTimeout`: milliseconds that a client may take nothing before the connection is closed. */
  constructor(socket: Socket, sendTimeout: number) {
    this.#socket = socket;
    this.#sendTimeout = sendTimeout;
    this.#deadline = new Deadline(() => this.#expired());
  }

  begin(head: string, framing: BodyFraming): void {
    this.#head = head;
    this.#framing = framing;
  }

  /** The answer has a body for this client (not for HEAD, 204, 304). */
  get hasBody(): boolean {
    return this.#framing !== 'none';
  }

  /** Sends a piece of the body; the bytes are copied or written when it returns. False: wait for `drained`. */
  body(bytes: Uint8Array, start: number, end: number): boolean {
    const size = end - start;
    const chunked = this.#framing === 'chunked';
    const before = chunked ? `${this.#head}${size.toString(16)}\r\n` : this.#head;
    this.#head = '';
    if (size <= maxJoinedBytes) {
      const data = latin1(bytes, start, end);
      return this.#write(chunked ? `${before}${data}\r\n` : before + data);
    }
    if (before !== '') this.#socket.write(before, 'latin1');
    const open = writeCopy(this.#socket, bytes, start, end);
    if (chunked) return this.#write('\r\n');
    if (!open) this.#block();
    return open;
  }

  /** `trailers`: validated lines, sent when the body is chunked. */
  end(trailers: string): void {
    const text = this.#framing === 'chunked' ? `${this.#head}0\r\n${trailers}\r\n` : this.#head;
    this.#head = '';
    if (text !== '') this.#write(text);
  }

  /** Sends a head that still waits for its body. */
  flush(): void {
    if (this.#head === '') return;
    const text = this.#head;
    this.#head = '';
    this.#write(text);
  }

  drained(): void {
    this.blocked = false;
    this.#deadline.clear();
  }

  closed(): void {
    this.#deadline.clear();
  }

  /** Ends our side behind all that was written; calls back when the client has taken it, or is gone. */
  close(done: () => void): void {
    if (this.#socket.writableLength === 0) {
      this.#socket.end();
      done();
      return;
    }
    this.#block();
    this.#socket.end(() => {
      this.#deadline.clear();
      done();
    });
  }

  #write(text: string): boolean {
    const open = this.#socket.write(text, 'latin1');
    if (!open) this.#block();
    return open;
  }

  #block(): void {
    if (this.blocked) return;
    this.blocked = true;
    this.#unsent = unsentBytes(this.#socket);
    this.#deadline.set(this.#sendTimeout, monotonic());
  }

  /** A client that takes a long answer slowly has time as long as it takes something. */
  #expired(): void {
    const unsent = unsentBytes(this.#socket);
    if (unsent === this.#unsent) this.#socket.destroy();
    else {
      this.#unsent = unsent;
      this.#deadline.set(this.#sendTimeout, monotonic());
    }
  }
}

/** What is not with the kernel yet. The handle alone knows how much of the write in flight is; without it, only whole writes count. */
function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle: { readonly writeQueueSize?: number } | null };
  return socket.writableLength + (handle?.writeQueueSize ?? 0);
}
