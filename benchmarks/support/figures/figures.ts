/** What was measured once, or in each of the rounds. */
export type Samples = number | readonly number[];

/** The smallest and the largest of several. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** One line of the result table. */
export interface Figure {
  readonly scenario: string;
  readonly what: string;
  readonly unit: string;
  /** Median of the rounds. */
  readonly gateway: number;
  /** The peer in the same run; null where there is nothing to compare with. */
  readonly peer: number | null;
  /** Name of what `peer` is. */
  readonly peerName: string;
  /** Gateway over peer, median of the rounds' ratios; null without a peer. */
  readonly ratio: number | null;
  /** Of the rounds: their ratios where there is a peer, else their values. Null: measured once. */
  readonly spread: Range | null;
  /** The gateway in each round. */
  readonly rounds: readonly number[];
  /** What it must reach, as text; '' when there is no aim. */
  readonly aim: string;
  /** Null when there is no aim. */
  readonly met: boolean | null;
}

export interface FigureInput {
  readonly scenario: string;
  readonly what: string;
  readonly unit: string;
  readonly gateway: Samples;
  readonly peer?: Samples;
  readonly peerName?: string;
  /** Largest ratio, largest value, or smallest value. */
  readonly maxRatio?: number;
  readonly max?: number;
  readonly min?: number;
}

export function figure(input: FigureInput): Figure {
  const { scenario, what, unit, peer } = input;
  const rounds = asRounds(input.gateway);
  const gateway = median(rounds);
  const ratios = peer === undefined ? [] : ratiosOf(rounds, asRounds(peer));
  const ratio = peer === undefined ? null : median(ratios);
  return {
    scenario,
    what,
    unit,
    gateway,
    peer: peer === undefined ? null : median(asRounds(peer)),
    peerName: input.peerName ?? (peer === undefined ? '' : 'nginx'),
    ratio,
    spread: rangeOf(peer === undefined ? rounds : ratios),
    rounds,
    ...aimOf(input, gateway, ratio),
  };
}

function aimOf(input: FigureInput, gateway: number, ratio: number | null): Pick<Figure, 'aim' | 'met'> {
  const { unit, maxRatio, max, min } = input;
  if (maxRatio !== undefined) {
    return { aim: `<= ${maxRatio}x`, met: (ratio ?? Number.POSITIVE_INFINITY) <= maxRatio };
  }
  if (max !== undefined) return { aim: `<= ${max} ${unit}`, met: gateway <= max };
  if (min !== undefined) return { aim: `>= ${min} ${unit}`, met: gateway >= min };
  return { aim: '', met: null };
}

/** Of each round, since what disturbs a round disturbs both; of the medians where the rounds do not belong together. */
function ratiosOf(gateway: readonly number[], peer: readonly number[]): readonly number[] {
  if (gateway.length !== peer.length) return [median(gateway) / median(peer)];
  return eachRound(gateway, peer, (ours, other) => ours / other);
}

function rangeOf(values: readonly number[]): Range | null {
  return values.length < 2 ? null : { min: Math.min(...values), max: Math.max(...values) };
}

function asRounds(samples: Samples): readonly number[] {
  return typeof samples === 'number' ? [samples] : samples;
}

/** Combines what was measured in the same rounds. */
export function eachRound(
  first: readonly number[],
  second: readonly number[],
  combine: (first: number, second: number) => number,
): readonly number[] {
  return first.map((value, round) => combine(value, second[round] ?? Number.NaN));
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  if (percent === 50 && sorted.length % 2 === 0) {
    const upper = sorted.length / 2;
    return ((sorted[upper - 1] as number) + (sorted[upper] as number)) / 2;
  }
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] as number;
}
