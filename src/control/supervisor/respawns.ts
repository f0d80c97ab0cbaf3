/** A worker that dies sooner than this after its start is replaced after a pause that doubles each time. Milliseconds. */
const settledAfter = 5000;
const firstPause = 100;
const maxPause = 10_000;

/** Starts the successors of workers that died: at once, or after a pause when one dies again and again. */
export class Respawns {
  readonly #spawn: (worker: number) => void;
  readonly #quickDeaths = new Map<number, number>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(spawn: (worker: number) => void) {
    this.#spawn = spawn;
  }

  /** `lifetime`: how long the dead worker ran, in milliseconds. */
  schedule(worker: number, lifetime: number): void {
    const deaths = lifetime < settledAfter ? (this.#quickDeaths.get(worker) ?? 0) + 1 : 0;
    this.#quickDeaths.set(worker, deaths);
    const pause = deaths === 0 ? 0 : Math.min(maxPause, firstPause * 2 ** (deaths - 1));
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#spawn(worker);
    }, pause);
    this.#timers.add(timer);
  }

  cancel(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
