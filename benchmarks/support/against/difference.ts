import type { Figure } from '../figures/figures.ts';

/** How one row of the table differs between two commits. */
export interface Difference {
  readonly scenario: string;
  readonly what: string;
  readonly unit: string;
  /** Geometric means of the rounds, so that their ratio is the change; medians where a round is not above 0. */
  readonly before: number;
  readonly after: number;
  /** What the change is, as a part of `before`: 0.05 is 5 % more. NaN: `before` is not above 0. */
  readonly change: number;
  /** The bounds between which the change is with a confidence of 95 %; null: it was measured once, or is not above 0. */
  readonly interval: readonly [low: number, high: number] | null;
  /** `unclear`: no change is among what the figures allow. */
  readonly verdict: 'better' | 'worse' | 'unclear';
}

/**
 * Compares the rows that both commits have, those that differ only in what they are compared with once. The rounds of the two were measured in turns, so the n-th of the one belongs to the
 * n-th of the other: what is examined is the logarithm of their ratio. The change is its mean, and the interval the one of
 * Student's t distribution.
 */
export function differences(before: readonly Figure[], after: readonly Figure[]): readonly Difference[] {
  const seen = new Set<string>();
  return after.flatMap((row) => {
    const other = before.find((candidate) => isSameRow(candidate, row));
    const measured = JSON.stringify([row.unit, row.rounds]);
    if (other === undefined || (row.rounds.length > 1 && seen.has(measured))) return [];
    seen.add(measured);
    return [difference(other, row)];
  });
}

/**
 * Of two measurements with different processes: a row is worse only if both say so, and then by the smaller of the changes.
 * Processes of the same program differ too, by where their code and data happen to lie, and no round shows that.
 */
export function confirm(rows: readonly Difference[], again: readonly Difference[]): readonly Difference[] {
  return rows.map((row) => {
    if (row.verdict !== 'worse') return row;
    const other = again.find((candidate) => isSameRow(candidate, row));
    if (other?.verdict !== 'worse') return { ...row, verdict: 'unclear' };
    return Math.abs(other.change) < Math.abs(row.change) ? other : row;
  });
}

function isSameRow(one: RowName, other: RowName): boolean {
  return one.scenario === other.scenario && one.what === other.what;
}

type RowName = Pick<Difference, 'scenario' | 'what'>;

function difference(before: Figure, after: Figure): Difference {
  const { scenario, what, unit } = after;
  const { change, interval } = changeOf(before.rounds, after.rounds);
  const direction = isMoreBetter(unit) ? 1 : -1;
  const certain = interval !== null && (interval[0] > 0 || interval[1] < 0);
  return {
    scenario,
    what,
    unit,
    before: Number.isNaN(change) ? before.gateway : geometricMean(before.rounds),
    after: Number.isNaN(change) ? after.gateway : geometricMean(after.rounds),
    change,
    interval,
    verdict: !certain ? 'unclear' : change * direction > 0 ? 'better' : 'worse',
  };
}

/** Whether a row became worse by more than `limit` (0.05 is 5 %), and is certain to have become worse. */
export function isRegression({ change, verdict }: Difference, limit: number): boolean {
  return verdict === 'worse' && Math.abs(change) > limit;
}

function isMoreBetter(unit: string): boolean {
  return unit.endsWith('/s');
}

function changeOf(before: readonly number[], after: readonly number[]): Pick<Difference, 'change' | 'interval'> {
  const pairs = Math.min(before.length, after.length);
  const logs = Array.from({ length: pairs }, (_, at) => Math.log((after[at] as number) / (before[at] as number)));
  if (pairs === 0 || !logs.every(Number.isFinite)) return { change: Number.NaN, interval: null };
  const mean = logs.reduce((sum, log) => sum + log, 0) / pairs;
  const change = Math.expm1(mean);
  if (pairs < 2) return { change, interval: null };
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (pairs - 1);
  const reach = tQuantile(pairs - 1) * Math.sqrt(variance / pairs);
  return { change, interval: [Math.expm1(mean - reach), Math.expm1(mean + reach)] };
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** The 97.5 % quantile of Student's t distribution, from published tables. */
const quantiles: readonly number[] = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086,
];

/** For more degrees of freedom than the table has, its last value: a little more careful than needed. */
function tQuantile(degrees: number): number {
  return quantiles[Math.min(degrees, quantiles.length) - 1] as number;
}
