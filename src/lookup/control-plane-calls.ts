import { EntityAccessError } from '../plugin-sdk/entity-access.ts';
import type { Call, CallFailure } from './questions.ts';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: number;
}

/** How long the control plane may take, in milliseconds. */
const patience = 10_000;

/** A worker's questions to the control plane, and where their answers go. */
export class ControlPlaneCalls {
  readonly #post: (id: number, call: Call) => void;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #sweep: NodeJS.Timeout | null = null;

  constructor(post: (id: number, call: Call) => void) {
    this.#post = post;
  }

  /** Rejects with an `EntityAccessError`; `unavailable` also when no answer comes. */
  ask(call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#waiting.set(id, { resolve, reject, deadline: performance.now() + patience });
      this.#sweep ??= setInterval(() => this.#giveUp(), 1000).unref();
      this.#post(id, call);
    });
  }

  answered(id: number, value: unknown, failure: CallFailure | null): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    if (failure === null) waiting.resolve(value);
    else if (failure.kind === 'mistake') waiting.reject(new Error(failure.message));
    else waiting.reject(new EntityAccessError(failure.kind, failure.message, failure.fields));
  }

  #giveUp(): void {
    const now = performance.now();
    for (const [id, { deadline, reject }] of this.#waiting) {
      if (deadline > now) break;
      this.#waiting.delete(id);
      reject(new EntityAccessError('unavailable', `the control plane did not answer in ${patience} ms`));
    }
    if (this.#waiting.size > 0 || this.#sweep === null) return;
    clearInterval(this.#sweep);
    this.#sweep = null;
  }
}
