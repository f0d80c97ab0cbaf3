import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';

const project = join(import.meta.dirname, '..', '..', '..');
const current = new AsyncLocalStorage<Pick<Lane<unknown>, 'root' | 'pause'>>();

/** Folder of the source that the running scenario measures. */
export function measuredRoot(): string {
  return current.getStore()?.root ?? project;
}

/**
 * Called by a scenario before each of its turns. Where two commits are compared, the other one has its turn now.
 *
 * @param round From 0, which warms up.
 */
export async function nextTurn(round: number): Promise<void> {
  await current.getStore()?.pause(round);
}

/**
 * Runs one scenario with two sources at once, a turn of the one and the same turn of the other. Only one of them runs at any
 * time, and each round the other one begins, so that neither what disturbs the machine nor the order favours one.
 */
export async function runInTwoLanes<T>(
  roots: readonly [before: string, after: string],
  run: (lane: number) => Promise<T>,
): Promise<readonly [before: PromiseSettledResult<T>, after: PromiseSettledResult<T>]> {
  const before = new Lane(roots[0], () => run(0));
  const after = new Lane(roots[1], () => run(1));
  while (before.result === null || after.result === null) {
    const order = (before.result === null ? before : after).round % 2 === 0 ? [before, after] : [after, before];
    for (const lane of order) await lane.step();
  }
  return [before.result, after.result];
}

class Lane<T> {
  readonly root: string;
  round = 0;
  result: PromiseSettledResult<T> | null = null;
  readonly #run: () => Promise<T>;
  #resume: (() => void) | null = null;
  #paused: () => void = () => {};

  constructor(root: string, run: () => Promise<T>) {
    this.root = root;
    this.#run = run;
  }

  /** Runs it until its next turn or its end. */
  async step(): Promise<void> {
    if (this.result !== null) return;
    const paused = new Promise<void>((resolve) => {
      this.#paused = resolve;
    });
    if (this.#resume !== null) this.#resume();
    else void current.run(this, () => this.#finish());
    await paused;
  }

  pause(round: number): Promise<void> {
    this.round = round;
    return new Promise((resolve) => {
      this.#resume = resolve;
      this.#paused();
    });
  }

  async #finish(): Promise<void> {
    try {
      this.result = { status: 'fulfilled', value: await this.#run() };
    } catch (reason) {
      this.result = { status: 'rejected', reason };
    }
    this.#paused();
  }
}
