/** Numbers from 0 to 1, the same for the same seed (xorshift). */
function randomBy(start: number): () => number {
  let state = start | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Random choices, the same for the same seed. For tests. */
export class Dice {
  readonly #random: () => number;

  constructor(start: number) {
    this.#random = randomBy(start);
    for (let turn = 0; turn < 8; turn++) this.#random();
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  word(): string {
    return Array.from({ length: this.below(6) }, () => this.one([...'abcxyz _-é漢"\\/<&>\t'])).join('');
  }
}
