import { Worker } from 'node:worker_threads';
import { engineHeapLimit } from '../../shared/settings/heap-limit.ts';
import { bootstrapCode } from '../../shared/util/process/bootstrap-code.ts';

/** Bytes of memory that such a thread may use. V8's own limit is far higher: a thread that reaches it ends the process. */
export const maxThreadMemory = 384 * 1024 ** 2;
/** Milliseconds between two looks at its memory. */
const lookInterval = 50;

export interface BoundedThreadOptions {
  readonly name: string;
  readonly compileCache: string | null;
  readonly workerData: unknown;
  /** Called when the thread uses more than `maxThreadMemory`; maybe more than once. */
  readonly memoryFull: () => void;
}

export interface BoundedThread {
  readonly thread: Worker;
  /** Ends the thread at once. */
  end(): void;
}

/** Starts a thread for one task with code of plugins, which may do anything: it has no environment, and what it prints stays in it. */
export function startBoundedThread(entry: URL, options: BoundedThreadOptions): BoundedThread {
  const { name, compileCache, workerData, memoryFull } = options;
  const thread = new Worker(bootstrapCode(entry, compileCache), {
    eval: true,
    workerData,
    name,
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: engineHeapLimit(maxThreadMemory) },
  });
  thread.stdout.resume();
  thread.stderr.resume();
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    if ((await memoryOf(thread)) > maxThreadMemory) memoryFull();
    looking = false;
  };
  const looks = setInterval(() => void look(), lookInterval);
  return {
    thread,
    end() {
      clearInterval(looks);
      void thread.terminate();
    },
  };
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
