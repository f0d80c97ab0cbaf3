/** What the numbers and plots of the page cover. */
export type RangeName = 'live' | '1h' | '24h' | '30d';

export interface HistoryRange {
  readonly name: Exclude<RangeName, 'live'>;
  readonly label: string;
  /** In a sentence: `in the last hour`. */
  readonly period: string;
  /** Seconds. */
  readonly length: number;
  /** Milliseconds after which it is read again. */
  readonly refresh: number;
}

export const historyRanges: readonly HistoryRange[] = [
  { name: '1h', label: '1 hour', period: 'the last hour', length: 3_600, refresh: 20_000 },
  { name: '24h', label: '24 hours', period: 'the last 24 hours', length: 86_400, refresh: 60_000 },
  { name: '30d', label: '30 days', period: 'the last 30 days', length: 2_592_000, refresh: 300_000 },
];

/** What the first routes, services and consumers are the first by. */
export const sorts = ['requests', 'errors', 'latency'] as const;
export type SortName = (typeof sorts)[number];

/** What the address of the page says. Unknown values count as absent. */
export interface OverviewSearch {
  readonly range?: RangeName;
  readonly sort?: SortName;
}

export function overviewSearch(search: Readonly<Record<string, unknown>>): OverviewSearch {
  const range = (['live', '1h', '24h', '30d'] as const).find((name) => name === search['range']);
  const sort = sorts.find((name) => name === search['sort']);
  return { ...(range === undefined ? {} : { range }), ...(sort === undefined ? {} : { sort }) };
}
