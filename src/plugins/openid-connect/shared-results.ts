import { createHash } from 'node:crypto';

const slots = 64;
const slotBytes = 16 * 1024;
/** Words of a slot: state, sequence, time of the change in seconds, length of the text; then 4 words of the key. */
const headWords = 8;
const headBytes = headWords * 4;

const idle = 0;
const claimed = 1;
const pending = 2;
const done = 3;

/** Seconds for which a result is kept, and after which a call without a result is abandoned. */
const lifetime = 60;

/** Size of the zone, in bytes. */
export const sharedResultsSize = slots * slotBytes;

/**
 * Makes one call for all workers of the node: the first worker stores the result in shared memory, and the others wait for
 * it. If another call uses the slot, or the calling worker has died, each worker makes the call itself.
 */
export class SharedResults {
  readonly #words: Int32Array;
  readonly #bytes: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
    this.#bytes = Buffer.from(memory);
  }

  /** `name` identifies the call. Its result may be null, but not an empty text. `timeout`: milliseconds to wait for others. */
  async run(name: string, timeout: number, call: () => Promise<string | null>): Promise<string | null> {
    const key = createHash('sha256').update(name).digest();
    const at = (key.readUInt32LE(16) % slots) * (slotBytes / 4);
    const end = performance.now() + timeout;
    for (let attempt = 0; attempt < 1000; attempt += 1) {
      // Read before the state: detects another worker that takes the slot meanwhile.
      const sequence = Atomics.load(this.#words, at + 1);
      const state = Atomics.load(this.#words, at);
      if (state === claimed) continue;
      const hasOurKey = this.#hasKey(at, key) && this.#isFresh(at);
      if (state === done && hasOurKey) {
        const text = this.#read(at);
        if (Atomics.load(this.#words, at + 1) === sequence) return text;
        continue;
      }
      if (state === pending && this.#isFresh(at)) {
        if (!hasOurKey || performance.now() >= end) return call();
        await Atomics.waitAsync(this.#words, at, pending, Math.max(1, end - performance.now())).value;
        continue;
      }
      if (Atomics.compareExchange(this.#words, at, state, claimed) !== state) continue;
      return this.#callFirst(at, key, call);
    }
    return call();
  }

  async #callFirst(at: number, key: Buffer, call: () => Promise<string | null>): Promise<string | null> {
    const sequence = Atomics.add(this.#words, at + 1, 1) + 1;
    for (let word = 0; word < 4; word += 1) Atomics.store(this.#words, at + 4 + word, key.readInt32LE(word * 4));
    Atomics.store(this.#words, at + 2, seconds());
    this.#change(at, pending);
    let result: string | null | undefined;
    try {
      result = await call();
      return result;
    } finally {
      // The slot may have been abandoned meanwhile, and taken by another call.
      if (Atomics.load(this.#words, at + 1) === sequence) {
        this.#change(at, result !== undefined && this.#write(at, result ?? '') ? done : idle);
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

  /** False: the text is too long. */
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
