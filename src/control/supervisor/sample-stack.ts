import type { Worker } from 'node:worker_threads';

/** Available since Node 24.8. */
interface Profiled {
  startCpuProfile?(): Promise<{ stop(): Promise<string> }>;
}

interface Profile {
  readonly nodes: readonly {
    readonly hitCount?: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
}

/** Milliseconds of sampling, and the timeout of each step. */
const watchTime = 50;
const sampleTimeout = 500;

/**
 * Where a thread spends its time, as `function (file:line)`: V8 interrupts it even in an endless loop. Null when that is unknown
 * within the timeout.
 */
export async function sampleStack(thread: Worker): Promise<string | null> {
  try {
    const profiling = await within((thread as Profiled).startCpuProfile?.());
    if (profiling === null) return null;
    await new Promise((resolve) => setTimeout(resolve, watchTime));
    const text = await within(profiling.stop());
    return text === null ? null : hottest(JSON.parse(text) as Profile);
  } catch {
    return null;
  }
}

function hottest({ nodes }: Profile): string | null {
  let best: Profile['nodes'][number] | null = null;
  for (const node of nodes) {
    if ((node.hitCount ?? 0) > (best?.hitCount ?? 0) && node.callFrame.url !== '') best = node;
  }
  if (best === null) return null;
  const { functionName, url, lineNumber } = best.callFrame;
  return `${functionName === '' ? '(anonymous)' : functionName} (${url}:${lineNumber + 1})`;
}

async function within<T>(promise: Promise<T> | undefined): Promise<T | null> {
  if (promise === undefined) return null;
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), sampleTimeout);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
}
