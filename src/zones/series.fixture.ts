import { parentPort, workerData } from 'node:worker_threads';
import { SeriesWriter } from './series.ts';

/** What a counting thread does. */
export interface SeriesCounting {
  readonly memory: SharedArrayBuffer;
  readonly worker: number;
  readonly cells: number;
  readonly labels: number;
  /** Additions; Infinity: until it is ended. */
  readonly rounds: number;
  /** How much it has added to, told after each round: it is known also of one that was ended. */
  readonly told: SharedArrayBuffer;
}

/** Adds 1 to each cell of series after series, new ones again and again. */
export function count({ memory, worker, cells, labels, rounds, told }: SeriesCounting): void {
  const writer = new SeriesWriter(memory, worker, cells);
  const done = new Int32Array(told);
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
