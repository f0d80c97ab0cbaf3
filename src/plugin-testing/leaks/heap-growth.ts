import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { collectGarbage } from '../../shared/util/process/collect-when-idle.ts';

/** Rounds whose growth nobody looks at: code is compiled, caches are filled. */
const warmUp = 3;
/** Rounds in a row that must all have grown. Chance is not that steady. */
const steady = 6;
const maxRounds = 30;

export interface Growth {
  /** Bytes for each unit. */
  readonly perUnit: number;
  readonly grows: boolean;
}

/**
 * Runs rounds of `units` until it is clear whether the heap grows with them. It does if each of the last six rounds has left more behind than
 * `least` bytes for each unit: compilation and collection make single rounds grow or shrink, but not all of them.
 */
export async function heapGrowth(units: number, least: number, round: () => Promise<void>): Promise<Growth> {
  const growths: number[] = [];
  let before = await settledHeap(round);
  for (let rounds = 1; rounds < maxRounds; rounds++) {
    const after = await settledHeap(round);
    growths.push((after - before) / units);
    before = after;
    const last = growths.slice(-steady);
    if (growths.length < warmUp + steady) continue;
    if (last.every((growth) => growth >= least)) return { perUnit: median(last), grows: true };
    // Most of them did not grow: there is nothing to wait for.
    if (last.filter((growth) => growth < least).length > steady / 2) break;
  }
  return { perUnit: median(growths.slice(-steady)), grows: false };
}

/** Bytes in use after a round. Buffers outside of the heap come from pools; each has an object in the heap. */
async function settledHeap(round: () => Promise<void>): Promise<number> {
  await round();
  // What ends with a connection ends in later turns, and what waits for a finalizer is garbage only after that.
  for (let times = 0; times < 2; times++) {
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    collectGarbage('regular');
  }
  return getHeapStatistics().used_heap_size;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
