import { greatestCommonDivisor } from '../../shared/util/greatest-common-divisor.ts';

/** Up to so many slots in a round, the order is computed once. Building it takes less than a millisecond. */
const maxTable = 4096;

/**
 * Maximum slots in a round: products of two stay exact. Weights beyond it are rounded, to less than one part in 10,000.
 */
const maxRound = 2 ** 26;

/** How many numbers are tried as the stride. */
const strideCandidates = 64;

const goldenRatio = (Math.sqrt(5) - 1) / 2;

/**
 * The order in which weighted round-robin visits addresses: in one round each has as many slots as its weight divided
 * by the greatest common divisor of all, and they are spread evenly, so that a large weight never gets a burst of
 * requests. The same weights give the same order in every worker.
 */
export class WeightedSequence {
  /** Slots in one round; 0 when there are no weights. */
  readonly size: number;
  readonly #table: Uint16Array | null;
  /** For rounds too long for a table: where each index ends in a row of all slots, and the stride through that row. */
  readonly #ends: Float64Array;
  readonly #stride: number;

  /** Weights are whole numbers above 0. */
  constructor(weights: readonly number[]) {
    const counts = slotCounts(weights);
    let end = 0;
    this.#ends = Float64Array.from(counts, (count) => {
      end += count;
      return end;
    });
    this.size = end;
    this.#table = end <= maxTable ? evenTable(counts, end) : null;
    this.#stride = this.#table === null ? strideThrough(end) : 1;
  }

  /** Index of the weight at a slot. Slots are whole numbers from 0 on; `size` is above 0. */
  at(slot: number): number {
    const { size } = this;
    const place = slot % size;
    if (this.#table !== null) return this.#table[place]!;
    // A coprime stride visits every position of the row once in a round; near the golden ratio it spreads them.
    const product = place * this.#stride;
    let row = product - Math.floor(product / size) * size;
    if (row < 0) row += size;
    else if (row >= size) row -= size;
    return this.#indexOf(row);
  }

  #indexOf(row: number): number {
    const ends = this.#ends;
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (ends[middle]! <= row) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function slotCounts(weights: readonly number[]): readonly number[] {
  const divisor = weights.reduce(greatestCommonDivisor, 0) || 1;
  const counts = weights.map((weight) => weight / divisor);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= maxRound) return counts;
  return counts.map((count) => Math.max(1, Math.floor((count * maxRound) / total)));
}

/** Each index in the middle of its share of the round, repeatedly. */
function evenTable(counts: readonly number[], total: number): Uint16Array {
  const keys = new Float64Array(total);
  let at = 0;
  for (const [index, count] of counts.entries()) {
    for (let slot = 0; slot < count; slot++) {
      // Position and index in one number, which sorts without a function: 12 bits and 20 of the fraction, then 16.
      keys[at++] = Math.round((((slot + 0.5) * total) / count) * 2 ** 20) * 2 ** 16 + index;
    }
  }
  keys.sort();
  return Uint16Array.from(keys, (key) => key % 2 ** 16);
}

/**
 * A coprime stride near the golden ratio of the round. Of several the one whose ratio has the smallest partial
 * quotients in its continued fraction: this keeps the visited positions evenly spread.
 */
function strideThrough(size: number): number {
  const first = Math.round(size * goldenRatio);
  let best = first;
  let least = Number.POSITIVE_INFINITY;
  for (let stride = first; stride < first + strideCandidates; stride++) {
    const quotient = greatestQuotient(size, stride);
    if (quotient >= least) continue;
    best = stride;
    least = quotient;
  }
  return best;
}

/** Infinity when the two have a common divisor. */
function greatestQuotient(a: number, b: number): number {
  let dividend = a;
  let divisor = b;
  let greatest = 0;
  while (divisor > 0) {
    greatest = Math.max(greatest, Math.floor(dividend / divisor));
    const rest = dividend % divisor;
    dividend = divisor;
    divisor = rest;
  }
  return dividend === 1 ? greatest : Number.POSITIVE_INFINITY;
}
