/**
 * Some code of this thread may have a time of its own: gateways of tests, each with a clock that is moved by hand. What is shared by
 * all code of the thread and waits for a time asks here which time is meant.
 */
export interface TimeScopes {
  /** Stands for the time of the running code; null: that of the thread. */
  current(): object | null;
  /** The function, to be called later in the time of the code that runs now. */
  bind(work: () => void): () => void;
}

/** Null in a gateway: all code has the time of the thread. */
export let timeScopes: TimeScopes | null = null;

export function useTimeScopes(scopes: TimeScopes | null): void {
  timeScopes = scopes;
}
