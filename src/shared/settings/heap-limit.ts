import { totalmem } from 'node:os';
import type { Settings } from './settings.ts';

const mebibyte = 1024 ** 2;
const minLimit = 128 * mebibyte;
const maxLimit = 2048 * mebibyte;
const minRoom = 128 * mebibyte;
const minReserve = 512 * mebibyte;

/** Bytes of heap that one worker may use. */
export function workerHeapLimit({
  workerMaxHeapSize,
  workers,
}: Pick<Settings, 'workerMaxHeapSize' | 'workers'>): number {
  if (workerMaxHeapSize > 0) return workerMaxHeapSize;
  // Includes the limit of a container; 0: unlimited.
  const available = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.min(maxLimit, Math.max(minLimit, Math.floor(available / 2 / workers)));
}

/**
 * A worker whose heap is larger is replaced at once, in any state. Well above a small limit: the garbage of building a
 * large config, which V8 has not collected yet, is several times the config itself.
 */
export function heapCeiling(limit: number): number {
  return limit + Math.max(limit / 4, minRoom);
}

/**
 * V8's own limit in MiB, the last resort: a thread that reaches it during an allocation of native code (an
 * array that grows, a large JSON text) ends the whole process. It leaves the watchdog time to end the worker first.
 */
export function engineHeapLimit(limit: number): number {
  return Math.ceil((heapCeiling(limit) + Math.max(limit * 0.75, minReserve)) / mebibyte);
}
