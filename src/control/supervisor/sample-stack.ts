import { sourceFile } from '../../shared/plugin-loader/error-place.ts';
import { isPluginCode } from '../../shared/plugin-loader/plugin-origin.ts';
import { type BusyPlace, busyPlace, pausedPlace } from './pause-thread.ts';
import type { WorkerThread } from './worker-threads.ts';

/** Available since Node 24.8. */
interface Profiled {
  startCpuProfile?(): Promise<{ stop(): Promise<string> }>;
}

/** V8's `Profiler.Profile`, as far as it is used. */
export interface Profile {
  readonly nodes: readonly ProfileNode[];
}

interface ProfileNode {
  readonly id: number;
  readonly hitCount?: number;
  readonly children?: readonly number[];
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  /** Samples by line, from 1. */
  readonly positionTicks?: readonly { readonly line: number; readonly ticks: number }[];
}

/** Milliseconds of sampling, and the timeout of each step. */
const watchTime = 50;
const sampleTimeout = 500;

/**
 * Where a thread that is terminated afterwards spends its time: V8 interrupts it even in an endless loop. Null when that is unknown within
 * the timeout.
 */
export async function stuckPlace(thread: WorkerThread): Promise<BusyPlace | null> {
  const sampled = await sampleStack(thread);
  if (sampled !== null && isPluginCode(sampled.file)) return sampled;
  return (await pausedPlace(thread.threadId)) ?? sampled;
}

async function sampleStack(thread: WorkerThread): Promise<BusyPlace | null> {
  try {
    const profiling = await within((thread as Profiled).startCpuProfile?.());
    if (profiling === null) return null;
    await new Promise((resolve) => setTimeout(resolve, watchTime));
    const text = await within(profiling.stop());
    return text === null ? null : hottestPlace(JSON.parse(text) as Profile);
  } catch {
    return null;
  }
}

/**
 * The function with most samples or, where that is code of Node or the gateway, the nearest caller in a plugin: a loop that calls
 * `JSON.parse` is the plugin's. Null: no sample is in a file.
 */
export function hottestPlace({ nodes }: Profile): BusyPlace | null {
  let hottest: ProfileNode | null = null;
  for (const node of nodes) if ((node.hitCount ?? 0) > (hottest?.hitCount ?? 0)) hottest = node;
  if (hottest === null) return null;
  const callers = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  let inFile: BusyPlace | null = null;
  let below: ProfileNode | null = null;
  for (let node: ProfileNode | null = hottest; node !== null; below = node, node = callers.get(node.id) ?? null) {
    const file = sourceFile(node.callFrame.url);
    if (file === null) continue;
    const place = busyPlace(node.callFrame.functionName, file, lineOf(node, below));
    if (isPluginCode(file)) return place;
    inFile ??= place;
  }
  return inFile;
}

/** The line with most samples is known of the function that runs; of a caller, only where the function begins. */
function lineOf({ callFrame, positionTicks = [] }: ProfileNode, below: ProfileNode | null): number {
  const busiest = below === null ? positionTicks.toSorted((a, b) => b.ticks - a.ticks)[0] : undefined;
  return busiest?.line ?? callFrame.lineNumber + 1;
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
