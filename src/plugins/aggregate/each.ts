import { isJsonObject, type JsonValue, setMember } from '../../plugin-sdk/index.ts';
import { absent, type Outcome, type PartFailure } from './outcome.ts';
import type { Part } from './part.ts';
import { type Reference, resolve } from './reference.ts';
import type { Run } from './run.ts';

/** Makes the call of a part for each element of a list, a few at a time, and gives the answers in the list's order. */
export function runEach(run: Run, part: Part, list: Reference, done: (outcome: Outcome) => void): void {
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

function listProblem({ config: { each_max: most } }: Part, items: JsonValue): PartFailure | null {
  if (!Array.isArray(items) || items.length <= most) return null;
  return { reason: 'too-many', status: 502, message: `its list has more than ${most} elements` };
}

/** Paths go through all answers of an `each`, so all of them have to be values. */
const referredTooLarge: PartFailure = Object.freeze({
  reason: 'too-large',
  status: 502,
  message: 'an answer that other parts refer to is too large',
});

class FanOut {
  readonly #run: Run;
  readonly #part: Part;
  readonly #items: readonly JsonValue[];
  readonly #done: (outcome: Outcome) => void;
  readonly #raw: JsonValue[];
  readonly #values: JsonValue[];
  readonly #failures: PartFailure[] = [];
  #next = 0;
  #left: number;
  #over = false;

  constructor(run: Run, part: Part, items: readonly JsonValue[], done: (outcome: Outcome) => void) {
    this.#run = run;
    this.#part = part;
    this.#items = items;
    this.#done = done;
    this.#raw = items.map(() => null);
    this.#values = items.map(() => null);
    this.#left = items.length;
  }

  start(): void {
    if (this.#left === 0) this.#finish();
    for (let lane = 0; lane < this.#part.config.each_concurrency; lane++) this.#lane();
  }

  /** One call after the other, until one has to be waited for. */
  #lane(): void {
    while (this.#one());
  }

  /** True: the call of the next element has ended at once. */
  #one(): boolean {
    if (this.#over || this.#run.over || this.#next >= this.#items.length) return false;
    const index = this.#next++;
    let ended = false;
    let waits = false;
    this.#run.call(this.#part, { value: this.#items[index]!, index }, (outcome) => {
      ended = true;
      this.#settled(index, outcome);
      if (waits) this.#lane();
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
      if (outcome.referred !== null && this.#part.referred.length > 0) {
        this.#settled(index, { kind: 'failed', failure: referredTooLarge });
        return;
      }
      this.#raw[index] = outcome.raw;
      value = outcome.value;
    }
    this.#values[index] = config.each_into === null ? value : within(this.#items[index]!, config.each_into, value);
    if (--this.#left === 0) this.#finish();
  }

  #finish(): void {
    this.#over = true;
    const failures = this.#failures.sort((a, b) => a.index! - b.index!);
    this.#done({ kind: 'there', raw: this.#raw, value: this.#values, referred: null, answer: null, failures });
  }
}

/** The element with a further member; what is no object becomes one. */
function within(item: JsonValue, name: string, value: JsonValue): JsonValue {
  const object = isJsonObject(item) ? { ...item } : {};
  setMember(object, name, value);
  return object;
}
