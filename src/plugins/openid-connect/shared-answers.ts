import { createHash } from 'node:crypto';

const slots = 64;
const slotBytes = 16 * 1024;
/** Words of a slot: state, sequence, second of the change, length of the text; then 4 words of the key. */
const headWords = 8;
const headBytes = headWords * 4;

const idle = 0;
const claiming = 1;
const busy = 2;
const done = 3;

/** Seconds for which an answer is kept, and after which a question without an answer is given up. */
const lifetime = 60;

/** Size of the zone, in bytes. */
export const sharedAnswersSize = slots * slotBytes;

/**
 * One question for all workers of the node: whoever asks first leaves the answer in shared memory, and the others wait
 * for it. When a slot is taken by another question, or the asking worker is lost, each asks for itself.
 */
export class SharedAnswers {
  readonly #words: Int32Array;
  readonly #bytes: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
    this.#bytes = Buffer.from(memory);
  }

  /** The answer to `question`; null is one too, and an empty text is not. `patience`: milliseconds to wait for others. */
  async find(question: string, patience: number, ask: () => Promise<string | null>): Promise<string | null> {
    const key = createHash('sha256').update(question).digest();
    const at = (key.readUInt32LE(16) % slots) * (slotBytes / 4);
    const end = performance.now() + patience;
    for (let tries = 0; tries < 1000; tries += 1) {
      // Before the state: whoever takes the slot from now on is seen at the end.
      const sequence = Atomics.load(this.#words, at + 1);
      const state = Atomics.load(this.#words, at);
      if (state === claiming) continue;
      const isOurs = this.#hasKey(at, key) && this.#isFresh(at);
      if (state === done && isOurs) {
        const text = this.#read(at);
        if (Atomics.load(this.#words, at + 1) === sequence) return text;
        continue;
      }
      if (state === busy && this.#isFresh(at)) {
        if (!isOurs || performance.now() >= end) return ask();
        await Atomics.waitAsync(this.#words, at, busy, Math.max(1, end - performance.now())).value;
        continue;
      }
      if (Atomics.compareExchange(this.#words, at, state, claiming) !== state) continue;
      return this.#askFirst(at, key, ask);
    }
    return ask();
  }

  async #askFirst(at: number, key: Buffer, ask: () => Promise<string | null>): Promise<string | null> {
    const sequence = Atomics.add(this.#words, at + 1, 1) + 1;
    for (let word = 0; word < 4; word += 1) Atomics.store(this.#words, at + 4 + word, key.readInt32LE(word * 4));
    Atomics.store(this.#words, at + 2, seconds());
    this.#change(at, busy);
    let answer: string | null | undefined;
    try {
      answer = await ask();
      return answer;
    } finally {
      // Unless the slot was given up meanwhile, and is another's now.
      if (Atomics.load(this.#words, at + 1) === sequence) {
        this.#change(at, answer !== undefined && this.#write(at, answer ?? '') ? done : idle);
      }
    }
  }

  #change(at: number, state: number): void {
    Atomics.store(this.#words, at, state);
    Atomics.notify(this.#words, at);
  }

  #hasKey(at: number, key: Buffer): boolean {
    for (let word = 0; word < 4; word += 1) {
      if (Atomics.load(this.#words, at + 4 + word) !== key.readInt32LE(word * 4)) return false;
    }
    return true;
  }

  #isFresh(at: number): boolean {
    return seconds() - Atomics.load(this.#words, at + 2) <= lifetime;
  }

  #read(at: number): string | null {
    const from = at * 4 + headBytes;
    const length = Atomics.load(this.#words, at + 3);
    return length === 0 ? null : this.#bytes.toString('utf8', from, from + length);
  }

  /** False: it is too long. */
  #write(at: number, text: string): boolean {
    const length = Buffer.byteLength(text);
    if (length > slotBytes - headBytes) return false;
    this.#bytes.write(text, at * 4 + headBytes, 'utf8');
    Atomics.store(this.#words, at + 3, length);
    Atomics.store(this.#words, at + 2, seconds());
    return true;
  }
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
