import { parentPort, workerData } from 'node:worker_threads';
import { SeriesWriter } from './series.ts';

/** The job of a counting thread. */
export interface SeriesCounting {
  readonly memory: SharedArrayBuffer;
  readonly worker: number;
  readonly cells: number;
  readonly labels: number;
  /** Additions; Infinity: until it is terminated. */
  readonly rounds: number;
  /** The number of additions, updated after each round: also available for a terminated thread. */
  readonly progress: SharedArrayBuffer;
}

/** Adds 1 to each cell of series after series, repeatedly new ones. */
export function count({ memory, worker, cells, labels, rounds, progress }: SeriesCounting): void {
  const writer = new SeriesWriter(memory, worker, cells);
  const done = new Int32Array(progress);
  for (let round = 0; round < rounds; round++) {
    const place = writer.place([`series ${(round * 7) % labels}`, 'ü"\\\n']);
    for (let cell = 0; cell < cells; cell++) writer.values[place + cell]! += 1;
    Atomics.add(done, worker, 1);
  }
}

if (workerData?.memory instanceof SharedArrayBuffer) {
  parentPort?.postMessage('begun');
  count(workerData as SeriesCounting);
}
