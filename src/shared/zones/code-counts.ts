import { bucketCount } from '../usage/latency-sketch.ts';

/*
 * What workers count of the requests in which a plugin ran, while new code of the plugin is observed: a row for each worker and plugin.
 * Only the worker writes its rows, so adding needs no atomic operation.
 */

/** Positions in a row. */
export const CodeCount = Object.freeze({
  requests: 0,
  failures: 1,
  serverErrors: 2,
  /** Requests whose time is counted. */
  timed: 3,
  /** The worker has returned to the old code by itself: `Returned`. */
  returned: 4,
  /** The first bucket of the gateway's own time. */
  buckets: 5,
});

/** Why a worker has returned to the old code. */
export const Returned = Object.freeze({ failed: 1, slow: 2 });

const rowWords = Math.ceil((CodeCount.buckets + bucketCount) / 16) * 16;

/** Shared memory for so many workers and plugins, all 0. */
export function createCodeCounts(workers: number, plugins: number): SharedArrayBuffer {
  return new SharedArrayBuffer(workers * plugins * rowWords * Uint32Array.BYTES_PER_ELEMENT);
}

/** The row of a worker for one of `plugins` plugins. */
export function codeCountsRow(memory: SharedArrayBuffer, worker: number, plugins: number, plugin: number): Uint32Array {
  const at = (worker * plugins + plugin) * rowWords;
  return new Uint32Array(memory, at * Uint32Array.BYTES_PER_ELEMENT, rowWords);
}

/** Sums of the rows of all workers but one, for one plugin. */
export function otherCodeCounts(
  memory: SharedArrayBuffer,
  worker: number,
  plugins: number,
  plugin: number,
): Uint32Array {
  const workers = memory.byteLength / (plugins * rowWords * Uint32Array.BYTES_PER_ELEMENT);
  const others = Array.from({ length: workers }, (_, number) => number).filter((number) => number !== worker);
  return sumCodeCounts(others.map((number) => codeCountsRow(memory, number, plugins, plugin)));
}

/** The sum of rows. */
function sumCodeCounts(rows: readonly Uint32Array[]): Uint32Array {
  const sum = new Uint32Array(rowWords);
  for (const row of rows) for (let at = 0; at < rowWords; at++) sum[at]! += row[at]!;
  return sum;
}
