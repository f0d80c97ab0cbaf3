import type { Socket } from 'node:net';
import { monotonic } from '../util/time/clock.ts';
import { Deadline } from '../util/time/deadlines.ts';

/**
 * The result of inspecting the bytes so far. `consumed`: how many of them belong to the value; the rest passes to the
 * next owner.
 */
export type Inspection<T> =
  | { readonly kind: 'more' }
  | { readonly kind: 'done'; readonly consumed: number; readonly value: T }
  | { readonly kind: 'bad'; readonly reason: string };

export interface FirstBytesOptions<T> {
  /** Called with all bytes so far, from the first on, whenever more arrive. */
  readonly inspect: (bytes: Buffer) => Inspection<T>;
  /** Maximum bytes until `inspect` must be done; bytes that arrive with them are kept too. */
  readonly limit: number;
  /** Milliseconds, from the call on. */
  readonly timeout: number;
  /** The socket is like a new one, without the consumed bytes. */
  readonly done: (value: T) => void;
  /** The bytes did not arrive, or are invalid. The socket is left to the caller; it may be closed already. */
  readonly failed: (reason: string) => void;
}

/**
 * Reads the first bytes of a socket that has not been read yet. Returns a function that cancels it, without a callback.
 */
export function readFirstBytes<T>(socket: Socket, options: FirstBytesOptions<T>): () => void {
  let held: Buffer = nothing;
  const stop = (): void => {
    deadline.clear();
    socket.off('readable', readable);
    socket.off('end', ended);
    socket.off('close', closed);
    socket.off('error', ignore);
  };
  const fail = (reason: string): void => {
    stop();
    // A later reset must not be an uncaught exception.
    socket.on('error', ignore);
    options.failed(reason);
  };
  const deadline = new Deadline(() => fail('timeout while waiting for the first bytes'));
  const ended = (): void => fail('closed by the client before the first bytes');
  const closed = (): void => fail('closed by the client before the first bytes');
  const readable = (): void => {
    const piece = socket.read() as Buffer | null;
    if (piece === null) return;
    held = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const found = options.inspect(held);
    if (found.kind === 'more') {
      if (held.length >= options.limit) fail(`more than ${options.limit} bytes`);
      return;
    }
    if (found.kind === 'bad') {
      fail(found.reason);
      return;
    }
    stop();
    if (held.length > found.consumed) socket.unshift(held.subarray(found.consumed));
    options.done(found.value);
  };
  deadline.set(options.timeout, monotonic());
  socket.on('error', ignore);
  socket.on('end', ended);
  socket.on('close', closed);
  // Not `data`: the socket must not flow before the next owner listens.
  socket.on('readable', readable);
  return stop;
}

const nothing = Buffer.alloc(0);

function ignore(): void {}
