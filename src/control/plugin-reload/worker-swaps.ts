import type { ZoneChanges } from '../../shared/messages/messages.ts';
import type {
  CodeObservation,
  PluginCodeAppliedMessage,
  PluginCodeFailure,
} from '../../shared/messages/plugin-code.ts';
import type { PluginCode } from '../../shared/plugin-loader/code/plugin-code.ts';
import type { WorkerHandle } from '../supervisor/worker-handle.ts';

/** Milliseconds for a worker to load the code and exchange its instances. */
const swapTimeout = 10_000;

/** What came of a swap: null: the code is in use. */
export type SwapFailure = PluginCodeFailure | 'ended' | 'late';

interface Waiting {
  readonly worker: number;
  readonly done: (failure: SwapFailure | null) => void;
}

/** Sends workers other code of plugins, and matches their answers. */
export class WorkerSwaps {
  readonly #waiting = new Map<number, Waiting>();
  #serial = 0;

  /** Resolves when the worker uses the code, or with why it does not. `observation`: how it observes the code. */
  swap(
    worker: WorkerHandle,
    codes: readonly PluginCode[],
    zones: ZoneChanges | null,
    observation: CodeObservation | null = null,
  ): Promise<SwapFailure | null> {
    const serial = ++this.#serial;
    return new Promise((resolve) => {
      const done = (failure: SwapFailure | null): void => {
        clearTimeout(timer);
        if (this.#waiting.delete(serial)) resolve(failure);
      };
      const timer = setTimeout(() => done('late'), swapTimeout);
      this.#waiting.set(serial, { worker: worker.number, done });
      worker.post({
        type: 'plugin-code',
        serial,
        codes,
        ...(zones === null ? {} : { zones }),
        ...(observation === null ? {} : { observation }),
      });
    });
  }

  answered({ serial, failure }: PluginCodeAppliedMessage): void {
    this.#waiting.get(serial)?.done(failure);
  }

  /** The worker has ended. */
  ended(worker: number): void {
    for (const waiting of [...this.#waiting.values()]) if (waiting.worker === worker) waiting.done('ended');
  }
}
