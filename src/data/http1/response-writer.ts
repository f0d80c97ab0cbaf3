import type { Socket } from 'node:net';
import { latin1 } from '../../shared/util/bytes/latin1.ts';
import { writeCopy } from '../../shared/util/bytes/write-copy.ts';
import { unsentBytes } from '../../shared/util/net/unsent-bytes.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';

/** Pieces up to this size are written as text, in one write with what precedes them. */
const maxJoinedBytes = 16_384;

/** How the body of an answer is framed for this client. */
export type BodyFraming = 'none' | 'length' | 'chunked' | 'close';

/** Writes the answers of one client connection. A head is held back to leave in one write with the first body bytes. */
export class ResponseWriter {
  readonly #socket: Socket;
  readonly #sendTimeout: number;
  readonly #deadline: Deadline;
  #head = '';
  /** Bytes that waited for the client at the last check. */
  #unsent = 0;
  #framing: BodyFraming = 'none';
  /** The client does not read what was written: no other answer may begin until it does. */
  blocked = false;

  /** `sendTimeout`: milliseconds without any byte read by the client before the connection is closed. */
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
    const before = this.#head;
    this.#head = '';
    const open = writePiece(this.#socket, bytes, start, end, this.#framing === 'chunked', before);
    if (!open) this.#block();
    return open;
  }

  /** `trailers`: validated lines, sent when the body is chunked. */
  end(trailers: string): void {
    const text = this.#framing === 'chunked' ? `${this.#head}0\r\n${trailers}\r\n` : this.#head;
    this.#head = '';
    if (text !== '') this.#write(text);
  }

  /** Sends a head that waits for its body. */
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

  /** Ends our side after all that was written; calls back when the client has read it or has disconnected. */
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

  /** A client that reads a long answer slowly keeps its connection as long as it reads something. */
  #expired(): void {
    const unsent = unsentBytes(this.#socket);
    if (unsent === this.#unsent) this.#socket.destroy();
    else {
      this.#unsent = unsent;
      this.#deadline.set(this.#sendTimeout, monotonic());
    }
  }
}

/**
 * Writes a piece of a body behind `before`, as a chunk (RFC 9112 7.1) when `chunked`. The bytes are copied or written when it
 * returns. Returns what `write` returns.
 */
export function writePiece(
  socket: Socket,
  bytes: Uint8Array,
  start: number,
  end: number,
  chunked: boolean,
  before = '',
): boolean {
  const size = end - start;
  const head = chunked ? `${before}${size.toString(16)}\r\n` : before;
  if (size <= maxJoinedBytes) {
    const data = latin1(bytes, start, end);
    return socket.write(chunked ? `${head}${data}\r\n` : head + data, 'latin1');
  }
  if (head !== '') socket.write(head, 'latin1');
  const open = writeCopy(socket, bytes, start, end);
  return chunked ? socket.write('\r\n', 'latin1') : open;
}
