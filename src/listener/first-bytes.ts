import type { Socket } from 'node:net';
import { monotonic } from '../util/clock.ts';
import { Deadline } from '../util/deadlines.ts';

/** What the bytes so far say. `consumed`: how many of them belong to the value; those behind them go on to whoever is next. */
export type Inspection<T> =
  | { readonly kind: 'more' }
  | { readonly kind: 'done'; readonly consumed: number; readonly value: T }
  | { readonly kind: 'bad'; readonly reason: string };

export interface FirstBytesOptions<T> {
  /** Called with all bytes so far, from the first on, each time that there are more. */
  readonly inspect: (bytes: Buffer) => Inspection<T>;
  /** Bytes within which `inspect` has to be done; whatever comes with them is kept too. */
  readonly limit: number;
  /** Milliseconds, from the call on. */
  readonly timeout: number;
  /** The socket is as new, without the bytes that were consumed. */
  readonly done: (value: T) => void;
  /** They never came, or are not what they have to be. The socket is left to the caller; it may be closed already. */
  readonly failed: (reason: string) => void;
}

/** Reads the first bytes of a socket that nobody has read from yet. Returns how to give it up, without a call back. */
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
    // A reset that is still to come must not be an uncaught exception.
    socket.on('error', ignore);
    options.failed(reason);
  };
  const deadline = new Deadline(() => fail('they did not come in time'));
  const ended = (): void => fail('the client closed the connection first');
  const closed = (): void => fail('the client closed the connection first');
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
