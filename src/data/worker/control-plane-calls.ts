import { EntityAccessError } from '../../plugin-sdk/entity-access.ts';
import type { Call, CallFailure } from '../../shared/lookup/calls.ts';
import { failureMessage } from '../../shared/plugin-loader/failure-fields.ts';

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: number;
}

/** How long the control plane may take, in milliseconds. */
const answerTimeout = 10_000;

/** A worker's calls to the control plane, matched with their answers. */
export class ControlPlaneCalls {
  readonly #post: (id: number, call: Call) => void;
  readonly #pending = new Map<number, PendingCall>();
  #last = 0;
  #sweep: NodeJS.Timeout | null = null;

  constructor(post: (id: number, call: Call) => void) {
    this.#post = post;
  }

  /** Rejects with an `EntityAccessError`; `unavailable` also when no answer arrives in time. */
  request(call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#pending.set(id, { resolve, reject, deadline: performance.now() + answerTimeout });
      this.#sweep ??= setInterval(() => this.#rejectOverdue(), 1000).unref();
      try {
        this.#post(id, call);
      } catch (error) {
        // What a plugin passes may be impossible to copy between threads.
        this.#pending.delete(id);
        reject(new TypeError(`this cannot be sent to the control plane: ${failureMessage(error)}`, { cause: error }));
      }
    });
  }

  answered(id: number, value: unknown, failure: CallFailure | null): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    if (failure === null) pending.resolve(value);
    else if (failure.kind === 'exception') pending.reject(new Error(failure.message));
    else pending.reject(new EntityAccessError(failure.kind, failure.message, failure.fields));
  }

  #rejectOverdue(): void {
    const now = performance.now();
    for (const [id, { deadline, reject }] of this.#pending) {
      if (deadline > now) break;
      this.#pending.delete(id);
      reject(new EntityAccessError('unavailable', `the control plane did not answer within ${answerTimeout} ms`));
    }
    if (this.#pending.size > 0 || this.#sweep === null) return;
    clearInterval(this.#sweep);
    this.#sweep = null;
  }
}
