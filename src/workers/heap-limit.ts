import { totalmem } from 'node:os';
import type { Settings } from '../settings/settings.ts';

const mebibyte = 1024 ** 2;
const smallest = 128 * mebibyte;
const largest = 2048 * mebibyte;
const leastReserve = 512 * mebibyte;

/** Bytes of heap that one worker may use. */
export function workerHeapLimit({
  workerMaxHeapSize,
  workers,
}: Pick<Settings, 'workerMaxHeapSize' | 'workers'>): number {
  if (workerMaxHeapSize > 0) return workerMaxHeapSize;
  // Also knows the limit of a container; 0: there is none.
  const available = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.min(largest, Math.max(smallest, Math.floor(available / 2 / workers)));
}

/** A worker whose heap is larger is replaced at once, whatever it does. */
export function heapCeiling(limit: number): number {
  return limit * 1.25;
}

/**
 * The limit that V8 gets, in MiB. It is only the last resort: a thread that meets it amid an allocation of native code (an
 * array that grows, a large JSON text) ends the whole process. So it leaves the watchdog time to end the worker before.
 */
export function engineHeapLimit(limit: number): number {
  return Math.ceil((limit + Math.max(limit, leastReserve)) / mebibyte);
}
