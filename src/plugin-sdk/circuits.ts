/** State of a circuit. `ramp`: closed again, for a growing fraction of the calls. */
export type CircuitState = 'closed' | 'open' | 'half-open' | 'ramp';

/** Why a circuit changed its state. */
export type CircuitReason =
  | 'error-ratio'
  | 'slow-ratio'
  | 'consecutive-failures'
  | 'pause-over'
  | 'trial-failed'
  | 'trials-passed'
  | 'ramp-over';

/** For `tools.limits.circuits`. */
export interface CircuitOptions {
  /** Part of every key, so that plugins and instances do not share circuits. */
  readonly namespace: string;
  /** Name of a declared zone of the kind `table`. */
  readonly zone: string;
  /** Milliseconds over which calls are counted. */
  readonly window: number;
  /** Calls in the window before the ratios apply. */
  readonly minCalls: number;
  /** Fraction of failed calls, 0 to 1, that opens the circuit; 0: off. */
  readonly errorRatio: number;
  /** Fraction of slow calls, 0 to 1, that opens the circuit; 0: off. */
  readonly slowRatio: number;
  /** Consecutive failures that open the circuit; 0: off. */
  readonly consecutive: number;
  /** Milliseconds for which the circuit stays open the first time. They double each time the trials fail. */
  readonly pause: number;
  /** Maximum of `pause`, in milliseconds. */
  readonly pauseMax: number;
  /** Calls that are accepted as trials after the pause. All of them must succeed to close the circuit. */
  readonly trials: number;
  /** Milliseconds over which the fraction of accepted calls grows to all; 0: all at once. */
  readonly ramp: number;
  /** Clock in milliseconds. Default: a monotonic clock that all workers share. */
  readonly now?: () => number;
  /** From 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/** A change of state, for the log. */
export interface CircuitChange {
  /** The new state. */
  readonly state: CircuitState;
  readonly reason: CircuitReason;
  /** Milliseconds for which it stays open at least; 0 for other states. */
  readonly pause: number;
}

/** Whether a call may be made. */
export interface Admission {
  /** False: the circuit is open; do not make the call. */
  readonly admitted: boolean;
  /** The call is a trial. Pass this to `report`, or call `release` if the call is not made. */
  readonly trial: boolean;
  /** The change of state that this admission caused; null: none. */
  readonly change: CircuitChange | null;
}

/**
 * Circuit breakers by key, shared by all workers of the node. Each function is one atomic step.
 *
 * @example
 * const { admitted, trial } = circuits.admit(service.id);
 * if (!admitted) return refuse(503, 'The circuit is open');
 * const failed = await call().then(() => false, () => true);
 * circuits.report(service.id, failed ? 'failure' : 'success', trial);
 */
export interface Circuits {
  admit(key: string): Admission;
  /** The call ended. Returns the change of state that it caused, or null. */
  report(key: string, result: 'success' | 'slow' | 'failure', trial: boolean): CircuitChange | null;
  /** A trial was not made, or its result says nothing. */
  release(key: string): void;
}
