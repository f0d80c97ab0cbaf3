/** The signals that control a running node. */
export interface Signals {
  /** Resolves to the first signal that requests a stop. */
  readonly end: Promise<NodeJS.Signals>;
  /** Resolves to the second one, which cuts the graceful stop short. */
  readonly endNow: Promise<NodeJS.Signals>;
  /** Stops listening. */
  dispose(): void;
}

export interface SignalActions {
  /** SIGUSR1: reopen the log files, as in nginx. Because we listen for it, Node starts no inspector. */
  reopen(): void;
  /** SIGHUP */
  reload(): void;
  /** SIGUSR2 */
  upgrade(): void;
}

const ending: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGQUIT'];

export function listenForSignals(actions: SignalActions): Signals {
  const first = Promise.withResolvers<NodeJS.Signals>();
  const second = Promise.withResolvers<NodeJS.Signals>();
  let stopping = false;
  const onEnd = (signal: NodeJS.Signals): void => {
    (stopping ? second : first).resolve(signal);
    stopping = true;
  };
  const others: readonly (readonly [NodeJS.Signals, () => void])[] = [
    ['SIGUSR1', () => actions.reopen()],
    ['SIGHUP', () => actions.reload()],
    ['SIGUSR2', () => actions.upgrade()],
  ];
  for (const signal of ending) process.on(signal, onEnd);
  for (const [signal, act] of others) process.on(signal, act);
  return {
    end: first.promise,
    endNow: second.promise,
    dispose() {
      for (const signal of ending) process.off(signal, onEnd);
      for (const [signal, act] of others) process.off(signal, act);
    },
  };
}
