import { setTimeout as wait } from 'node:timers/promises';

/** Waits until the condition holds; throws if it does not within `milliseconds`. */
export async function until(condition: () => boolean | Promise<boolean>, milliseconds = 8_000): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${milliseconds} ms: ${condition}`);
    await wait(10);
  }
}
