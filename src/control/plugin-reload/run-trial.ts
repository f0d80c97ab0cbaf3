import { Worker } from 'node:worker_threads';
import { type TrialBoot, type TrialResult, withoutPlace } from '../../shared/plugin-loader/trial/trial.ts';
import { engineHeapLimit } from '../../shared/settings/heap-limit.ts';
import { bootstrapCode } from '../../shared/util/process/bootstrap-code.ts';

const entry = new URL('../../shared/plugin-loader/trial/trial-main.ts', import.meta.url);

/** Milliseconds in which the code has to be loaded. */
const loadLimit = 5000;
/** Milliseconds for the thread itself to start, on a machine with other work. */
const startLimit = 10_000;
/** Bytes of memory. V8's own limit is far higher: a thread that reaches it ends the process. */
const maxMemory = 384 * 1024 ** 2;
const lookInterval = 50;

export interface TrialOptions {
  readonly compileCache: string | null;
  /** Runs a function that starts a thread, with the priority of the workers. */
  readonly startThread: <T>(start: () => T) => T;
}

/** Loads the code of users' plugins in a thread of its own, which is gone afterwards. Never rejects. */
export function runTrial(boot: TrialBoot, { compileCache, startThread }: TrialOptions): Promise<TrialResult> {
  const thread = startThread(
    () =>
      new Worker(bootstrapCode(entry, compileCache), {
        eval: true,
        workerData: boot,
        name: 'sluicegate-plugin-trial',
        env: {},
        stdout: true,
        stderr: true,
        resourceLimits: { maxOldGenerationSizeMb: engineHeapLimit(maxMemory) },
      }),
  );
  thread.stdout.resume();
  thread.stderr.resume();
  return new Promise((resolve) => {
    const end = (result: TrialResult): void => {
      clearTimeout(timer);
      clearInterval(memory);
      resolve(result);
      void thread.terminate();
    };
    const fail = (message: string): void => end({ ok: false, problem: withoutPlace(message) });
    const late = (): void => fail(`the code did not finish loading within ${loadLimit / 1000} s`);
    let timer = setTimeout(late, startLimit + loadLimit);
    const memory = setInterval(async () => {
      const used = await memoryOf(thread);
      if (used > maxMemory) fail(`the code needs more than ${maxMemory / 1024 ** 2} MB of memory while it loads`);
    }, lookInterval);
    thread.on('message', (message: TrialResult | 'loading') => {
      if (message !== 'loading') return end(message);
      clearTimeout(timer);
      timer = setTimeout(late, loadLimit);
    });
    thread.on('error', (error) => fail(error instanceof Error ? error.message : String(error)));
    thread.on('exit', () => fail('the code ended its thread while it loaded (process.exit)'));
  });
}

async function memoryOf(thread: Worker): Promise<number> {
  try {
    // Answered within a loop of JavaScript, too.
    const { used_heap_size: heap, external_memory: external } = await thread.getHeapStatistics();
    return heap + external;
  } catch {
    // The thread has just ended.
    return 0;
  }
}
