/** The signals that control a running node. */
export interface Signals {
  /** Resolves to the first signal that requests a stop. */
  readonly end: Promise<NodeJS.Signals>;
  /** Resolves to the second one, which cuts the graceful stop short. */
  readonly endNow: Promise<NodeJS.Signals>;
  /** Stops listening. */
  dispose(): void;
}

const ending: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGQUIT'];

/** SIGUSR1 as in nginx: because we listen for it, Node starts no inspector. SIGUSR2 and SIGHUP do the same. */
const reopening: readonly NodeJS.Signals[] = ['SIGUSR1', 'SIGUSR2', 'SIGHUP'];

export function listenForSignals(onReopen: (signal: NodeJS.Signals) => void): Signals {
  const first = Promise.withResolvers<NodeJS.Signals>();
  const second = Promise.withResolvers<NodeJS.Signals>();
  let stopping = false;
  const onEnd = (signal: NodeJS.Signals): void => {
    (stopping ? second : first).resolve(signal);
    stopping = true;
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
