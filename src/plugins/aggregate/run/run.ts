import type { JsonValue } from '../../../plugin-kit/json/index.ts';
import { type Flushable, flushLater } from '../../../plugin-kit/runtime/index.ts';
import { type AccessContext, type BackendAnswer, CallFailed, type Reply } from '../../../plugin-sdk/index.ts';
import { LargeTexts } from '../large-text.ts';
import type { Part } from '../part.ts';
import type { Plan } from '../plan.ts';
import { at, type Item, type PartValue } from '../values/reference.ts';
import { type CallRunner, runEach } from './each.ts';
import { makeCall } from './make-call.ts';
import { absent, allTooLarge, callFailure, type Outcome, type PartFailure, tooLate } from './outcome.ts';
import { readResponse } from './read-response.ts';

export interface RunLimits {
  /** Milliseconds. */
  readonly timeout: number;
  readonly maxBytes: number;
  readonly maxCalls: number;
}

/** Turns the end of a run into the reply to the client. */
export interface RunCallbacks {
  complete(outcomes: readonly Outcome[], texts: LargeTexts): Reply;
  failed(part: Part, failure: PartFailure): Reply;
  /** The service of this part does not exist. */
  missingService(part: string): void;
}

const pending: Outcome = Object.freeze({ kind: 'absent' });

/** The calls for one request of a client. The call of a part starts once the parts that it refers to have completed. */
export class Run implements CallRunner, Flushable {
  readonly context: AccessContext;
  readonly body: JsonValue | undefined;
  readonly #plan: Plan;
  readonly #limits: RunLimits;
  readonly #outcomes: Outcome[];
  readonly #pendingNeeds: number[];
  readonly #deadline: number;
  readonly #texts = new LargeTexts();
  #pendingParts: number;
  #calls = 0;
  #bytes = 0;
  #over = false;
  #callbacks: RunCallbacks;
  #answer: (reply: Reply) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(
    plan: Plan,
    limits: RunLimits,
    context: AccessContext,
    body: JsonValue | undefined,
    callbacks: RunCallbacks,
  ) {
    this.context = context;
    this.body = body;
    this.#plan = plan;
    this.#limits = limits;
    this.#outcomes = plan.parts.map(() => pending);
    this.#pendingNeeds = plan.needs.map((needs) => needs.length);
    this.#pendingParts = plan.parts.length;
    this.#deadline = performance.now() + limits.timeout;
    this.#callbacks = callbacks;
  }

  /** The reply is decided: no further call is made. */
  get over(): boolean {
    return this.#over;
  }

  reply(): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
      const { parts, needs } = this.#plan;
      for (let index = 0; index < parts.length && !this.#over; index++)
        if (needs[index]!.length === 0) this.#start(index);
    });
  }

  part(name: string, of: PartValue): JsonValue | undefined {
    const outcome = this.#outcomes[this.#plan.indexOf.get(name)!]!;
    if (outcome.kind !== 'there') return undefined;
    if (of.kind === 'body') {
      return outcome.referenced === null ? at(of.path, outcome.raw) : outcome.referenced.get(of.text);
    }
    if (of.kind === 'status') return outcome.answer?.status;
    return outcome.answer?.header(of.name) ?? undefined;
  }

  /** One call of a part; never rejects. */
  call(part: Part, item: Item | null, done: (outcome: Outcome) => void): void {
    const made = makeCall(part, this, item);
    if ('failure' in made) {
      done({ kind: 'failed', failure: made.failure });
      return;
    }
    const time = Math.ceil(Math.min(part.config.timeout, this.#deadline - performance.now()));
    if (time <= 0) {
      done({ kind: 'failed', failure: tooLate });
      return;
    }
    if (++this.#calls > this.#limits.maxCalls) {
      done({ kind: 'failed', failure: this.#tooManyCalls() });
      return;
    }
    const remaining = this.#limits.maxBytes - this.#bytes;
    const limit = part.config.max_body_size;
    const call = { ...made.call, timeout: time, maxBytes: Math.max(1, Math.min(limit, remaining)) };
    this.context.call(call).then(
      (answer) => this.#catchErrors(() => this.#read(part, answer, done)),
      (error: unknown) => this.#catchErrors(() => this.#callFailed(part, error, limit > remaining, done)),
    );
  }

  #callFailed(part: Part, error: unknown, exceedsTotal: boolean, done: (outcome: Outcome) => void): void {
    if (!(error instanceof CallFailed)) throw error;
    if (error.reason === 'no-service') this.#callbacks.missingService(part.name);
    done({ kind: 'failed', failure: error.reason === 'too-large' && exceedsTotal ? allTooLarge : callFailure(error) });
  }

  #tooManyCalls(): PartFailure {
    return {
      reason: 'too-many',
      status: 502,
      message: `it takes more than ${this.#limits.maxCalls} calls in all`,
      final: true,
    };
  }

  #read(part: Part, answer: BackendAnswer, done: (outcome: Outcome) => void): void {
    this.#bytes += answer.body.byteLength;
    if (this.#bytes > this.#limits.maxBytes) {
      done({ kind: 'failed', failure: allTooLarge });
      return;
    }
    const read = readResponse(part, answer, this.#texts, this.context.client.ip);
    if (!(read instanceof Promise)) done(read);
    else this.#readLater(read, done);
  }

  #readLater(read: Promise<Outcome>, done: (outcome: Outcome) => void): void {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#catchErrors(() => done({ kind: 'failed', failure: tooLate }));
    }, this.#deadline - performance.now());
    read.then(
      (outcome) => {
        clearTimeout(timer);
        if (!late) this.#catchErrors(() => done(outcome));
      },
      (error: unknown) => {
        clearTimeout(timer);
        this.#catchErrors(() => {
          throw error;
        });
      },
    );
  }

  /**
   * Answers. The documents that become complete together leave together: a client that waits for each of them would be woken up
   * for each, which costs more than to send them.
   */
  flush(): void {
    try {
      this.#answer(this.#callbacks.complete(this.#outcomes, this.#texts));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** An exception is a bug: the request fails with it. */
  #catchErrors(work: () => void): void {
    if (this.#over) return;
    try {
      work();
    } catch (error) {
      this.#over = true;
      this.#fail(error);
    }
  }

  #start(index: number): void {
    const { parts, needs } = this.#plan;
    const part = parts[index]!;
    const unavailable = needs[index]!.find((needed) => this.#outcomes[needed]!.kind !== 'there');
    if (unavailable !== undefined) {
      this.#settle(index, this.#outcomeWithout(unavailable));
      return;
    }
    if (part.when !== null && !part.when.holds(this, null)) {
      this.#settle(index, absent);
    } else if (part.each !== null) {
      runEach(this, part, part.each, (outcome) => this.#settle(index, outcome));
    } else {
      this.call(part, null, (outcome) => this.#settle(index, outcome));
    }
  }

  /** The outcome of a part that refers to an absent or failed one. */
  #outcomeWithout(unavailable: number): Outcome {
    if (this.#outcomes[unavailable]!.kind === 'absent') return absent;
    const message = `it depends on '${this.#plan.parts[unavailable]!.name}', which has failed`;
    return { kind: 'failed', failure: { reason: 'dependency', status: 502, message } };
  }

  #settle(index: number, outcome: Outcome): void {
    if (this.#over) return;
    const part = this.#plan.parts[index]!;
    if (outcome.kind === 'failed' && (part.config.required || outcome.failure.final === true)) {
      this.#over = true;
      this.#answer(this.#callbacks.failed(part, outcome.failure));
      return;
    }
    this.#outcomes[index] = outcome;
    if (--this.#pendingParts === 0) {
      this.#over = true;
      flushLater(this);
      return;
    }
    for (const dependent of this.#plan.dependents[index]!)
      if (--this.#pendingNeeds[dependent]! === 0) this.#start(dependent);
  }
}
