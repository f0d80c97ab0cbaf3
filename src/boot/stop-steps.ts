import { settledWithin } from '../util/settled-within.ts';

export interface StopStep {
  /** What is stopped, for the log. */
  readonly name: string;
  readonly run: () => void | Promise<void>;
}

export interface StopLog {
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Milliseconds that one step of a stop may take. A database or plugin that hangs must not keep the process alive. */
export const stepLimit = 2000;

/** Runs the steps one after the other. One that fails or takes too long is logged and does not keep the next from running. */
export async function runStopSteps(steps: readonly StopStep[], log: StopLog | null, limit = stepLimit): Promise<void> {
  for (const { name, run } of steps) {
    try {
      const work = Promise.resolve(run());
      if (await settledWithin(work, limit)) await work;
      else log?.warn(`${name} did not stop within ${limit / 1000} s; the stop continues without it`);
    } catch (error) {
      log?.warn(`${name} did not stop cleanly`, { err: error });
    }
  }
}
