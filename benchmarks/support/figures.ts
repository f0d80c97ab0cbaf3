/** One line of the result table. */
export interface Figure {
  readonly scenario: string;
  readonly what: string;
  readonly unit: string;
  readonly gateway: number;
  /** The peer in the same run; null where there is nothing to compare with. */
  readonly peer: number | null;
  /** Name of what `peer` is. */
  readonly peerName: string;
  /** Gateway over peer; null without a peer. */
  readonly ratio: number | null;
  /** What it must reach, as text; '' when there is no aim. */
  readonly aim: string;
  /** Null when there is no aim. */
  readonly met: boolean | null;
}

export interface FigureInput {
  readonly scenario: string;
  readonly what: string;
  readonly unit: string;
  readonly gateway: number;
  readonly peer?: number;
  readonly peerName?: string;
  /** Largest ratio, or largest value. */
  readonly maxRatio?: number;
  readonly max?: number;
}

export function figure(input: FigureInput): Figure {
  const { scenario, what, unit, gateway, peer, maxRatio, max } = input;
  const ratio = peer === undefined ? null : gateway / peer;
  const aim = maxRatio !== undefined ? `<= ${maxRatio}x` : max !== undefined ? `<= ${max} ${unit}` : '';
  const met =
    maxRatio !== undefined
      ? (ratio ?? Number.POSITIVE_INFINITY) <= maxRatio
      : max !== undefined
        ? gateway <= max
        : null;
  return {
    scenario,
    what,
    unit,
    gateway,
    peer: peer ?? null,
    peerName: input.peerName ?? (peer === undefined ? '' : 'nginx'),
    ratio,
    aim,
    met,
  };
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
