import type { TrafficSearch } from '../../router.tsx';

/** The parameters of `GET /traffic`, in the order of the toolbar. */
export const filterNames = [
  'status',
  'method',
  'path',
  'route',
  'service',
  'consumer',
  'client',
  'min_duration',
] as const;
export type FilterName = (typeof filterNames)[number];

/** Filters of several values, which the toolbar separates by commas. */
const lists: ReadonlySet<FilterName> = new Set(['method', 'client']);
/** Filters where '' selects requests that have none. */
export const mayBeNone: ReadonlySet<FilterName> = new Set(['route', 'service', 'consumer']);

/** The query of `GET /traffic` and `/traffic/live`; '' without filters. */
export function filterQuery(search: TrafficSearch): string {
  const query = new URLSearchParams();
  for (const name of filterNames) {
    const value = search[name];
    if (value === undefined) continue;
    const values = lists.has(name) ? value.split(',').map((one) => one.trim()) : [value];
    for (const one of values) query.append(name, one);
  }
  return query.toString();
}

export function hasFilter(search: TrafficSearch): boolean {
  return filterNames.some((name) => search[name] !== undefined);
}

/** Adds a status to a list of them, or removes it. */
export function toggledStatus(list: string | undefined, status: string): string | undefined {
  const all = statusList(list);
  const next = all.includes(status) ? all.filter((one) => one !== status) : [...all, status];
  return next.length === 0 ? undefined : next.join(',');
}

export function statusList(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== '');
}
