import type { ChangedFiles } from './watch/code-watcher.ts';

/** Changes that wait to be handled. What changes while one is handled comes as one batch afterwards. */
export class Changes {
  #waiting: ChangedFiles | null = null;
  #wake: (() => void) | null = null;

  get isEmpty(): boolean {
    return this.#waiting === null;
  }

  add({ files, noticed }: ChangedFiles): void {
    const before = this.#waiting;
    this.#waiting = {
      files: [...new Set([...(before?.files ?? []), ...files])],
      noticed: before?.noticed ?? noticed,
    };
    this.#wake?.();
  }

  /** The next batch; null: `ended` was resolved first. */
  async next(ended: Promise<unknown>): Promise<ChangedFiles | null> {
    if (this.#waiting === null) {
      const woken = new Promise<true>((resolve) => {
        this.#wake = () => resolve(true);
      });
      const first = await Promise.race([woken, ended.then(() => null)]);
      this.#wake = null;
      if (first === null) return null;
    }
    const found = this.#waiting;
    this.#waiting = null;
    return found;
  }
}
