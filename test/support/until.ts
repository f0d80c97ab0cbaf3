import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** Milliseconds of turns of the event loop before it looks at intervals only. */
const eagerTime = 5;

/**
 * Waits until the condition holds, and returns how many milliseconds that took; throws if it does not within `limit`. The default is for
 * a busy machine: a test of how long something takes looks at what is returned. A long wait checks less often: a check can cost much.
 */
export async function until(condition: () => boolean | Promise<boolean>, limit = 30_000): Promise<number> {
  const begun = performance.now();
  for (;;) {
    if (await condition()) return performance.now() - begun;
    const elapsed = performance.now() - begun;
    if (elapsed > limit) throw new Error(`not within ${limit} ms: ${condition}`);
    await (elapsed < eagerTime ? nextTurn() : wait(Math.min(50, 5 + elapsed / 20)));
  }
}

/** Runs a check again until it passes. After `limit` milliseconds it throws what the check threw last. */
export async function untilPasses(check: () => void | Promise<void>, limit?: number): Promise<void> {
  let problem: unknown = null;
  const passes = async (): Promise<boolean> => {
    try {
      await check();
      return true;
    } catch (error) {
      problem = error;
      return false;
    }
  };
  await until(passes, limit).catch(() => {
    throw problem;
  });
}
