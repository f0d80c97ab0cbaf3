/** Where a circuit stands. `ramp`: closed again, for a growing share of the calls. */
export type CircuitState = 'closed' | 'open' | 'half-open' | 'ramp';

/** Why a circuit opened or went on. */
export type CircuitReason =
  | 'error-ratio'
  | 'slow-ratio'
  | 'consecutive-failures'
  | 'pause-over'
  | 'trial-failed'
  | 'trials-passed'
  | 'ramp-over';

export interface CircuitOptions {
  readonly namespace: string;
  /** Name of the zone that keeps the circuits. */
  readonly zone: string;
  /** Milliseconds that are looked back on. */
  readonly window: number;
  /** Calls in the window before a ratio says anything. */
  readonly minCalls: number;
  /** Share of failed calls (0 to 1) at which the circuit opens; 0: off. */
  readonly errorRatio: number;
  /** Share of slow calls (0 to 1) at which the circuit opens; 0: off. */
  readonly slowRatio: number;
  /** Failures in a row at which the circuit opens; 0: off. */
  readonly consecutive: number;
  /** Milliseconds that the circuit stays open the first time, and at most; each time that trials fail it is twice as long. */
  readonly pause: number;
  readonly pauseMax: number;
  /** Calls that are let through to try, when the pause is over; all must succeed. */
  readonly trials: number;
  /** Milliseconds over which the share of calls that are let through grows to all; 0: all at once. */
  readonly ramp: number;
  /** Milliseconds. Default: a clock that all workers share and nobody sets. */
  readonly now?: () => number;
  /** 0 to 1. Default: by chance. */
  readonly random?: () => number;
}

export interface CircuitChange {
  readonly state: CircuitState;
  readonly reason: CircuitReason;
  /** Milliseconds that it stays open at least; 0 for other states. */
  readonly pause: number;
}

export interface Admission {
  readonly admitted: boolean;
  /** The call is one of the trials: `report` must say so, or `release` when it is not made. */
  readonly trial: boolean;
  /** The circuit has gone on to another state by this. */
  readonly change: CircuitChange | null;
}

/** Circuits by key, the same for all workers of the node. Each decision is one atomic step. */
export interface Circuits {
  admit(key: string): Admission;
  /** A call is over. */
  report(key: string, result: 'success' | 'slow' | 'failure', trial: boolean): CircuitChange | null;
  /** A trial was not made, or says nothing. */
  release(key: string): void;
}
