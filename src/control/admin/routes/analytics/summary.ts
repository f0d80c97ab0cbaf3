import { quantile } from '../../../../shared/usage/latency-sketch.ts';
import type { UsageResolution } from '../../../store/usage-store.ts';
import type { Grouping, UsageGroup, UsageGroups } from '../../../usage/usage-reader.ts';
import { type AdminRequest, type Answer, ok } from '../../http/admin-route.ts';
import type { Query } from '../../http/query.ts';
import { invalidOptions } from '../../lists/list-errors.ts';
import type { AnalyticsTools } from './tools.ts';
import { coarsened, refusing, shownRange } from './usage-list.ts';
import { readOnce, readUsageRequest } from './usage-request.ts';
import { nothingUsed, shownGroup, shownNumbers } from './usage-view.ts';

const defaultTop = 10;
const maxTop = 100;

/** Names in the answer, and what each list is grouped by. */
const lists = {
  routes: 'route',
  services: 'service',
  consumers: 'consumer',
  versions: 'version',
  statuses: 'status',
} as const;

const measures: Readonly<Record<string, (group: UsageGroup) => number>> = {
  requests: ({ usage }) => usage.requests,
  errors: ({ clientErrors, serverErrors }) => clientErrors + serverErrors,
  bytes: ({ usage }) => usage.bytesIn + usage.bytesOut,
  latency: ({ usage }) => quantile(usage.latency.sketch, 0.95, usage.latency.greatest) ?? 0,
};

/** `GET /analytics/summary`: the overview of a dashboard. */
export function readSummary(tools: AnalyticsTools, { query }: AdminRequest): Promise<Answer> {
  return coarsened((least) => summaryAt(tools, query, least));
}

async function summaryAt(tools: AnalyticsTools, query: Query, least: UsageResolution): Promise<Answer> {
  const { analytics, names } = tools;
  const usageRequest = readUsageRequest(query, ['top', 'sort'], null, analytics, least);
  const top = readTop(query);
  const measure = readMeasure(query);
  const filter = await names.filter(usageRequest);
  const groupings: Record<string, Grouping> = {
    totals: { by: [], time: null },
    timeline: { by: [], time: usageRequest.range.resolution },
  };
  for (const [name, dimension] of Object.entries(lists)) groupings[name] = { by: [dimension], time: null };
  const read = analytics.read((reader) => reader.all(filter, Object.values(groupings)));
  const all = await refusing(usageRequest, read);
  const groups = new Map(Object.keys(groupings).map((name, at) => [name, all[at]!]));
  const shown: Record<string, unknown> = {};
  for (const name of Object.keys(lists)) {
    const most = maxOf(groups.get(name)!, measure, top);
    const nameOf = await names.of(most, groupings[name]!);
    shown[name] = most.map((group) => shownGroup(group, groupings[name]!, nameOf));
  }
  const [total] = groups.get('totals')!.values();
  const timeline = groups.get('timeline')!.sorted({ order: 'asc' });
  return ok({
    ...shownRange(usageRequest),
    totals: shownNumbers(total ?? { usage: nothingUsed, clientErrors: 0, serverErrors: 0 }),
    timeline: timeline.map((group) => shownGroup(group, groupings['timeline']!, () => null)),
    ...shown,
    // Requests that this node could not count since its start.
    dropped: analytics.ledger.dropped,
  });
}

function maxOf(groups: UsageGroups, measure: (group: UsageGroup) => number, top: number): readonly UsageGroup[] {
  const measured = [...groups.values()].map((group) => ({ group, most: measure(group) }));
  measured.sort((a, b) => b.most - a.most || (a.group.id < b.group.id ? -1 : 1));
  return measured.slice(0, top).map(({ group }) => group);
}

function readTop(query: Query): number {
  const text = readOnce(query, 'top');
  if (text === undefined) return defaultTop;
  const top = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (top < 1 || top > maxTop) throw invalidOptions({ top: `must be an integer between 1 and ${maxTop}` });
  return top;
}

function readMeasure(query: Query): (group: UsageGroup) => number {
  const text = readOnce(query, 'sort') ?? 'requests';
  const measure = Object.hasOwn(measures, text) ? measures[text] : undefined;
  if (measure === undefined) throw invalidOptions({ sort: `must be one of ${Object.keys(measures).join(', ')}` });
  return measure;
}
