/** Where a request is on its way to a backend. The transitions are in attempts.ts. */
export const AttemptState = {
  /** No attempt has begun. */
  none: 0,
  /** A target and its address are being chosen. */
  choosing: 1,
  /** The address of a name is being looked up. */
  resolving: 2,
  /** A connection is being opened. */
  connecting: 3,
  /** The request is being sent, and the head of the answer is awaited. */
  awaiting: 4,
  /** The backend's answer is being sent to the client, or collected. */
  answering: 5,
  /** A retry waits for its time. */
  pausing: 6,
  /** No attempt follows. */
  ended: 7,
} as const;
export type AttemptState = (typeof AttemptState)[keyof typeof AttemptState];

/** What an exchange has for it. */
interface Attempted {
  attemptState: AttemptState;
  /** Transitions so far. */
  attemptSerial: number;
  readonly finished: boolean;
  readonly clientAborted: boolean;
}

/** The only transition. Returns its number, for `isCurrent`. */
export function enter(x: Attempted, state: AttemptState): number {
  x.attemptState = state;
  return ++x.attemptSerial;
}

/** False once another transition has followed, or the exchange is over: a callback then does nothing. */
export function isCurrent(x: Attempted, serial: number): boolean {
  return x.attemptSerial === serial && !x.finished && !x.clientAborted;
}
