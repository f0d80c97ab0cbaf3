import { isJsonObject, type JsonValue, setMember } from '../../../plugin-kit/json/index.ts';
import type { Part } from '../part.ts';
import { type Item, type Reference, resolve, type Sources } from '../values/reference.ts';
import { absent, type Outcome, type PartFailure } from './outcome.ts';

/** Makes the calls of a run. */
export interface CallRunner extends Sources {
  /** No further call is made. */
  readonly over: boolean;
  call(part: Part, item: Item | null, done: (outcome: Outcome) => void): void;
}

/** Calls the backend of a part for each element of a list, a few at a time; returns the results in the order of the list. */
export function runEach(run: CallRunner, part: Part, list: Reference, done: (outcome: Outcome) => void): void {
  const items = resolve(list, run, null);
  if (items === undefined || items === null) {
    done(absent);
    return;
  }
  const problem = listProblem(part, items);
  if (problem !== null || !Array.isArray(items)) {
    done({ kind: 'failed', failure: problem ?? notAList(list) });
    return;
  }
  new FanOut(run, part, items, done).start();
}

function notAList({ text }: Reference): PartFailure {
  return { reason: 'not-a-list', status: 502, message: `{${text}} is not a list` };
}

function listProblem({ config: { each_max: max } }: Part, items: JsonValue): PartFailure | null {
  if (!Array.isArray(items) || items.length <= max) return null;
  return { reason: 'too-many', status: 502, message: `its list has more than ${max} elements` };
}

/** References select from all results of an `each`, so all of them have to be parsed values. */
const referencedTooLarge: PartFailure = Object.freeze({
  reason: 'too-large',
  status: 502,
  message: 'an answer that other parts refer to is too large',
});

class FanOut {
  readonly #run: CallRunner;
  readonly #part: Part;
  readonly #items: readonly JsonValue[];
  readonly #done: (outcome: Outcome) => void;
  readonly #raw: JsonValue[];
  readonly #values: JsonValue[];
  readonly #failures: PartFailure[] = [];
  #next = 0;
  #pending: number;
  #over = false;

  constructor(run: CallRunner, part: Part, items: readonly JsonValue[], done: (outcome: Outcome) => void) {
    this.#run = run;
    this.#part = part;
    this.#items = items;
    this.#done = done;
    this.#raw = items.map(() => null);
    this.#values = items.map(() => null);
    this.#pending = items.length;
  }

  start(): void {
    if (this.#pending === 0) this.#finish();
    for (let count = 0; count < this.#part.config.each_concurrency; count++) this.#callInTurn();
  }

  /** Makes calls until one of them is asynchronous. */
  #callInTurn(): void {
    while (this.#callNext());
  }

  /** True: the call of the next element has completed synchronously. */
  #callNext(): boolean {
    if (this.#over || this.#run.over || this.#next >= this.#items.length) return false;
    const index = this.#next++;
    let ended = false;
    let waits = false;
    this.#run.call(this.#part, { value: this.#items[index]!, index }, (outcome) => {
      ended = true;
      this.#settled(index, outcome);
      if (waits) this.#callInTurn();
    });
    waits = !ended;
    return ended;
  }

  #settled(index: number, outcome: Outcome): void {
    if (this.#over) return;
    const { config } = this.#part;
    if (outcome.kind === 'failed') {
      if (config.required || outcome.failure.final === true) {
        this.#over = true;
        this.#done(outcome);
        return;
      }
      this.#failures.push({ ...outcome.failure, index });
    }
    let value: JsonValue = null;
    if (outcome.kind === 'there') {
      if (outcome.referenced !== null && this.#part.referenced.length > 0) {
        this.#settled(index, { kind: 'failed', failure: referencedTooLarge });
        return;
      }
      this.#raw[index] = outcome.raw;
      value = outcome.value;
    }
    this.#values[index] = config.each_into === null ? value : within(this.#items[index]!, config.each_into, value);
    if (--this.#pending === 0) this.#finish();
  }

  #finish(): void {
    this.#over = true;
    const failures = this.#failures.sort((a, b) => a.index! - b.index!);
    this.#done({ kind: 'there', raw: this.#raw, value: this.#values, referenced: null, answer: null, failures });
  }
}

/** The element with an additional member; other values become an object. */
function within(item: JsonValue, name: string, value: JsonValue): JsonValue {
  const object = isJsonObject(item) ? { ...item } : {};
  setMember(object, name, value);
  return object;
}
