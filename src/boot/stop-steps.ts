import { awaitWithTimeout } from '../shared/util/time/await-with-timeout.ts';

export interface StopStep {
  /** What the step stops, for the log. */
  readonly name: string;
  readonly run: () => void | Promise<void>;
}

export interface StopLog {
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Milliseconds that one step of a stop may take. A database or plugin that hangs must not keep the process running. */
export const stepLimit = 2000;

/** Runs the steps in order. A step that fails or times out is logged, and the next one runs. */
export async function runStopSteps(steps: readonly StopStep[], log: StopLog, limit = stepLimit): Promise<void> {
  for (const { name, run } of steps) {
    try {
      const work = Promise.resolve(run());
      if (await awaitWithTimeout(work, limit)) await work;
      else log.warn(`${name} did not stop within ${limit / 1000} s; continuing without it`);
    } catch (error) {
      log.warn(`${name} did not stop cleanly`, { err: error });
    }
  }
}
