import { totalmem } from 'node:os';
import type { Settings } from '../settings/settings.ts';

const mebibyte = 1024 ** 2;
const smallest = 128;
const largest = 2048;

/**
 * Heap of one worker at most, in MiB. V8's own default goes by the machine alone: several workers together could take more
 * than there is, and the larger a heap, the longer it is collected before it counts as full.
 */
export function workerHeapLimit({
  workerMaxHeapSize,
  workers,
}: Pick<Settings, 'workerMaxHeapSize' | 'workers'>): number {
  if (workerMaxHeapSize > 0) return Math.ceil(workerMaxHeapSize / mebibyte);
  // Also knows the limit of a container; 0: there is none.
  const available = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const share = Math.floor(available / 2 / workers / mebibyte);
  return Math.min(largest, Math.max(smallest, share));
}
