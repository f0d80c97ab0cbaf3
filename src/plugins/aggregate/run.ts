import {
  type AccessContext,
  type BackendAnswer,
  CallFailed,
  type JsonValue,
  type Reply,
} from '../../plugin-sdk/index.ts';
import { runEach } from './each.ts';
import { LargeTexts } from './large-text.ts';
import { makeCall } from './make-call.ts';
import { absent, allTooLarge, callFailure, type Outcome, type PartFailure, tooLate } from './outcome.ts';
import type { Part } from './part.ts';
import type { Plan } from './plan.ts';
import { readAnswer } from './read-answer.ts';
import { at, type Item, type PartValue, type Sources } from './reference.ts';

export interface RunLimits {
  /** Milliseconds. */
  readonly timeout: number;
  readonly maxBytes: number;
  readonly maxCalls: number;
}

/** Makes the answers of a run into the client's. */
export interface RunEnd {
  complete(outcomes: readonly Outcome[], texts: LargeTexts): Reply;
  failed(part: Part, failure: PartFailure): Reply;
  /** The service of this part does not exist. */
  missing(part: string): void;
}

const pending: Outcome = Object.freeze({ kind: 'absent' });

/** The calls for one request of a client. A part is asked as soon as all that it refers to are there. */
export class Run implements Sources {
  readonly context: AccessContext;
  readonly body: JsonValue | undefined;
  readonly #plan: Plan;
  readonly #limits: RunLimits;
  readonly #outcomes: Outcome[];
  readonly #waitsFor: number[];
  readonly #deadline: number;
  readonly #texts = new LargeTexts();
  #left: number;
  #calls = 0;
  #bytes = 0;
  #over = false;
  #end: RunEnd;
  #answer: (reply: Reply) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(plan: Plan, limits: RunLimits, context: AccessContext, body: JsonValue | undefined, end: RunEnd) {
    this.context = context;
    this.body = body;
    this.#plan = plan;
    this.#limits = limits;
    this.#outcomes = plan.parts.map(() => pending);
    this.#waitsFor = plan.needs.map((needs) => needs.length);
    this.#left = plan.parts.length;
    this.#deadline = performance.now() + limits.timeout;
    this.#end = end;
  }

  /** No further call is made: the answer is decided. */
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
      return outcome.referred === null ? at(of.path, outcome.raw) : outcome.referred.get(of.text);
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
    const room = this.#limits.maxBytes - this.#bytes;
    const own = part.config.max_body_size;
    const call = { ...made.call, timeout: time, maxBytes: Math.max(1, Math.min(own, room)) };
    this.context.call(call).then(
      (answer) => this.#guarded(() => this.#read(part, answer, done)),
      (error: unknown) => this.#guarded(() => this.#rejected(part, error, own > room, done)),
    );
  }

  #rejected(part: Part, error: unknown, ofAll: boolean, done: (outcome: Outcome) => void): void {
    if (!(error instanceof CallFailed)) throw error;
    if (error.reason === 'no-service') this.#end.missing(part.name);
    done({ kind: 'failed', failure: error.reason === 'too-large' && ofAll ? allTooLarge : callFailure(error) });
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
    const read = readAnswer(part, answer, this.#texts, this.context.client.ip);
    if (!(read instanceof Promise)) done(read);
    else this.#readLater(read, done);
  }

  #readLater(read: Promise<Outcome>, done: (outcome: Outcome) => void): void {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#guarded(() => done({ kind: 'failed', failure: tooLate }));
    }, this.#deadline - performance.now());
    read.then(
      (outcome) => {
        clearTimeout(timer);
        if (!late) this.#guarded(() => done(outcome));
      },
      (error: unknown) => {
        clearTimeout(timer);
        this.#guarded(() => {
          throw error;
        });
      },
    );
  }

  /** What throws is a fault of ours: the request ends with it. */
  #guarded(work: () => void): void {
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
    const lacking = needs[index]!.find((needed) => this.#outcomes[needed]!.kind !== 'there');
    if (lacking !== undefined) {
      this.#settle(index, this.#without(lacking));
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

  /** What becomes of a part when one that it refers to is not there. */
  #without(lacking: number): Outcome {
    if (this.#outcomes[lacking]!.kind === 'absent') return absent;
    const message = `it depends on '${this.#plan.parts[lacking]!.name}', which has failed`;
    return { kind: 'failed', failure: { reason: 'dependency', status: 502, message } };
  }

  #settle(index: number, outcome: Outcome): void {
    if (this.#over) return;
    const part = this.#plan.parts[index]!;
    if (outcome.kind === 'failed' && (part.config.required || outcome.failure.final === true)) {
      this.#over = true;
      this.#answer(this.#end.failed(part, outcome.failure));
      return;
    }
    this.#outcomes[index] = outcome;
    if (--this.#left === 0) {
      this.#over = true;
      this.#answer(this.#end.complete(this.#outcomes, this.#texts));
      return;
    }
    for (const dependent of this.#plan.dependents[index]!)
      if (--this.#waitsFor[dependent]! === 0) this.#start(dependent);
  }
}
