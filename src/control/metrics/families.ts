import type { MetricFamily, ScalarFamily, ScalarSeries } from '../../plugin-sdk/metrics.ts';

/** A family without its series. */
export interface FamilyHead {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** A series of a family in short: the values of its labels, and its number. */
export type Point = readonly [...labels: string[], value: number];

export function gauge(
  name: string,
  help: string,
  labelNames: readonly string[],
  points: readonly Point[],
): ScalarFamily {
  return { name, help, type: 'gauge', labelNames, series: points.map(seriesOf) };
}

export function counter(
  name: string,
  help: string,
  labelNames: readonly string[],
  points: readonly Point[],
): ScalarFamily {
  return { name, help, type: 'counter', labelNames, series: points.map(seriesOf) };
}

function seriesOf(point: Point): ScalarSeries {
  return { labels: point.slice(0, -1) as string[], value: point.at(-1) as number };
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Why a family cannot be shown; null: it can. */
export function familyProblem({ name, labelNames, type }: MetricFamily): string | null {
  if (!metricName.test(name)) return `'${name}' is not a valid name of a metric`;
  const bad = labelNames.find((label) => !labelName.test(label) || (label === 'le' && type === 'histogram'));
  if (bad !== undefined) return `'${bad}' is not a valid name of a label of ${name}`;
  return new Set(labelNames).size === labelNames.length ? null : `two labels of ${name} have the same name`;
}
