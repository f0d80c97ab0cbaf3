/**
 * HalfSipHash-1-3 with 64 bits of output (Aumasson and Bernstein's SipHash over 32-bit words) over the UTF-16 units of
 * a text. Keyed with a secret seed: clients choose what is hashed, and must not be able to construct collisions.
 */
export class KeyHash {
  /** The two halves of the last hash; unsigned. */
  low = 0;
  high = 0;
  readonly #start: readonly [number, number, number, number];
  readonly #length: number;

  /** All hashed text begins with `prefix`, which costs nothing afterwards. */
  constructor(seed: readonly [number, number], prefix = '') {
    const state = new Int32Array([seed[0], seed[1] ^ 0xee, seed[0] ^ 0x6c796765, seed[1] ^ 0x74656462]);
    for (let at = 0; at < prefix.length; at++) absorb(state, prefix.charCodeAt(at));
    this.#start = [state[0]!, state[1]!, state[2]!, state[3]!];
    this.#length = prefix.length;
  }

  hash(text: string): void {
    let [v0, v1, v2, v3] = this.#start;
    const { length } = text;
    // The last word holds the unit that is left over, and the total length.
    for (let at = 0; at <= length + 1; at += 2) {
      const last = at >= length - 1;
      const word = last
        ? (at < length ? text.charCodeAt(at) : 0) | ((this.#length + length) << 16)
        : text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
      if (last) break;
    }
    v2 ^= 0xee;
    for (let round = 0; round < 6; round++) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      if (round === 2) {
        this.low = (v1 ^ v3) >>> 0;
        v1 ^= 0xdd;
      }
    }
    this.high = (v1 ^ v3) >>> 0;
  }
}

function absorb(state: Int32Array, word: number): void {
  state[3]! ^= word;
  let [v0 = 0, v1 = 0, v2 = 0, v3 = 0] = state;
  v0 = (v0 + v1) | 0;
  v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
  v0 = (v0 << 16) | (v0 >>> 16);
  v2 = (v2 + v3) | 0;
  v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
  v0 = (v0 + v3) | 0;
  v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
  v2 = (v2 + v1) | 0;
  v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
  v2 = (v2 << 16) | (v2 >>> 16);
  state.set([v0 ^ word, v1, v2, v3]);
}
