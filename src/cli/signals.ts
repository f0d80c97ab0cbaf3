/** The signals that tell a running node what to do. */
export interface Signals {
  /** Resolves to the first signal that asks for the end. */
  readonly end: Promise<NodeJS.Signals>;
  /** Resolves to the second one: no more patience. */
  readonly endNow: Promise<NodeJS.Signals>;
  /** Stops listening. */
  dispose(): void;
}

const ending: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGQUIT'];

/** SIGUSR1 as with nginx: with a listener of ours it starts no inspector. SIGUSR2 and SIGHUP do the same. */
const reopening: readonly NodeJS.Signals[] = ['SIGUSR1', 'SIGUSR2', 'SIGHUP'];

export function listenForSignals(onReopen: (signal: NodeJS.Signals) => void): Signals {
  const first = Promise.withResolvers<NodeJS.Signals>();
  const second = Promise.withResolvers<NodeJS.Signals>();
  let asked = false;
  const onEnd = (signal: NodeJS.Signals): void => {
    (asked ? second : first).resolve(signal);
    asked = true;
  };
  for (const signal of ending) process.on(signal, onEnd);
  for (const signal of reopening) process.on(signal, onReopen);
  return {
    end: first.promise,
    endNow: second.promise,
    dispose() {
      for (const signal of ending) process.off(signal, onEnd);
      for (const signal of reopening) process.off(signal, onReopen);
    },
  };
}
