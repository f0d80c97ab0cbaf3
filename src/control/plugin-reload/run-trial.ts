import { type TrialBoot, type TrialResult, withoutPlace } from '../../shared/plugin-loader/trial/trial.ts';
import { maxThreadMemory, startBoundedThread } from '../supervisor/bounded-thread.ts';

const entry = new URL('../../shared/plugin-loader/trial/trial-main.ts', import.meta.url);

/** Milliseconds in which the code has to be loaded. */
const loadLimit = 5000;
/** Milliseconds for the thread itself to start, on a machine with other work. */
const startLimit = 10_000;

export interface TrialOptions {
  readonly compileCache: string | null;
  /** Runs a function that starts a thread, with the priority of the workers. */
  readonly startThread: <T>(start: () => T) => T;
}

/** Loads the code of users' plugins in a thread of its own, which is gone afterwards. Never rejects. */
export function runTrial(boot: TrialBoot, { compileCache, startThread }: TrialOptions): Promise<TrialResult> {
  return new Promise((resolve) => {
    const end = (result: TrialResult): void => {
      clearTimeout(timer);
      resolve(result);
      bounded.end();
    };
    const fail = (message: string): void => end({ ok: false, problem: withoutPlace(message) });
    const late = (): void => fail(`the code did not finish loading within ${loadLimit / 1000} s`);
    const full = `the code needs more than ${maxThreadMemory / 1024 ** 2} MB of memory while it loads`;
    const name = 'sluicegate-plugin-trial';
    const bounded = startThread(() =>
      startBoundedThread(entry, { name, compileCache, workerData: boot, memoryFull: () => fail(full) }),
    );
    let timer = setTimeout(late, startLimit + loadLimit);
    const { thread } = bounded;
    thread.on('message', (message: TrialResult | 'loading') => {
      if (message !== 'loading') return end(message);
      clearTimeout(timer);
      timer = setTimeout(late, loadLimit);
    });
    thread.on('error', (error) => fail(error instanceof Error ? error.message : String(error)));
    thread.on('exit', () => fail('the code ended its thread while it loaded (process.exit)'));
  });
}
