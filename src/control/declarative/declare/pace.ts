import { setImmediate } from 'node:timers/promises';

/** Longest time, in milliseconds, for which a long piece of work holds the thread. */
const slice = 10;

/** Lets other work run. It is called for each entity; null: nothing to wait for. */
export type Pace = () => Promise<void> | null;

export function createPace(): Pace {
  let begin = performance.now();
  let calls = 0;
  return () => {
    // The clock costs more than most entities need between two looks at it.
    if ((++calls & 7) !== 0 || performance.now() - begin < slice) return null;
    return setImmediate().then(() => {
      begin = performance.now();
    });
  };
}
