import { Readable } from 'node:stream';
import type { UsageResolution } from '../../../store/usage-store.ts';
import {
  type Grouping,
  type GroupPage,
  TooMuchUsage,
  type UsageFilter,
  type UsageGroup,
} from '../../../usage/usage-reader.ts';
import { type AdminRequest, type Answer, ok } from '../../http/admin-route.ts';
import { pagingNames } from '../../lists/known-parameters.ts';
import { invalidOptions } from '../../lists/list-errors.ts';
import { type ListSource, type PageQuery, readListPage } from '../../lists/list-page.ts';
import { maxLimit, readListRequest } from '../../lists/list-request.ts';
import type { AnalyticsTools } from './tools.ts';
import { csvHeader, csvRow } from './usage-csv.ts';
import { everything, isoTime, readGrouping, readOnce, readUsageRequest, type UsageRequest } from './usage-request.ts';
import { shownGroup } from './usage-view.ts';

const csvType = 'text/csv; charset=utf-8; header=present';
/** More than the maximum number of groups without a time. */
const everyGroup = 100_000;

/** `GET /analytics/usage`. */
export function listUsage(tools: AnalyticsTools, request: AdminRequest): Promise<Answer> {
  return coarsened((least) => listAt(tools, request, least));
}

/** Retries with coarser rows when there are too many finer ones, if the client did not specify the resolution. */
export async function coarsened(attempt: (least: UsageResolution) => Promise<Answer>): Promise<Answer> {
  for (const least of ['minute', 'hour'] as const) {
    try {
      return await attempt(least);
    } catch (error) {
      if (!(error instanceof TooMuchUsage)) throw error;
    }
  }
  return await attempt('day');
}

async function listAt(tools: AnalyticsTools, request: AdminRequest, least: UsageResolution): Promise<Answer> {
  const { query } = request;
  const wanted = readGrouping(query);
  const others = ['group_by', 'format', ...pagingNames];
  const usageRequest = readUsageRequest(query, others, wanted?.time ?? null, tools.analytics, least);
  const grouping = wanted ?? everything(usageRequest.range.resolution);
  const filter = await tools.names.filter(usageRequest);
  const isCsv = readFormat(request) === 'csv';
  if (isCsv && !pagingNames.some((name) => query.first(name) !== undefined)) {
    return await wholeCsv(tools, usageRequest, filter, grouping);
  }
  const source = sourceOf(tools, filter, grouping, isCsv);
  const links = { path: request.path, tags: undefined, nested: false, filters: usageRequest.given };
  const body = await refusing(usageRequest, readListPage(source, readListRequest(query), links));
  if (!isCsv) return ok({ ...body, ...shownRange(usageRequest) });
  const text = [csvHeader(grouping), ...body.data].join('');
  return {
    status: 200,
    stream: { type: csvType, body: Readable.from([text]) },
    ...(body.next === null ? {} : { headers: { link: `<${body.next}>; rel="next"` } }),
  };
}

export function shownRange({ range }: UsageRequest) {
  return { from: isoTime(range.from), to: isoTime(range.to), resolution: range.resolution };
}

/** Refuses a request for too much usage with advice. Rejects with `TooMuchUsage` where a coarser resolution may help. */
export async function refusing<T>({ range, anyResolution }: UsageRequest, pending: Promise<T>): Promise<T> {
  try {
    return await pending;
  } catch (error) {
    if (!(error instanceof TooMuchUsage) || (anyResolution && range.resolution !== 'day')) throw error;
    throw invalidOptions({
      resolution: `${error.message} would have to be read: choose a coarser resolution, a shorter range, a filter, or less in group_by`,
    });
  }
}

function sourceOf(
  { analytics, names }: AnalyticsTools,
  filter: UsageFilter,
  grouping: Grouping,
  isCsv: boolean,
): ListSource<UsageGroup> {
  return {
    kongDirection: 'asc',
    read: (page) => analytics.read((reader) => reader.page(filter, grouping, pageOf(page))),
    position: ({ start, id }) => ({ createdAt: start, id }),
    async present(groups) {
      const nameOf = await names.of(groups, grouping);
      return groups.map((group) => (isCsv ? csvRow(group, grouping, nameOf) : shownGroup(group, grouping, nameOf)));
    },
    // Rows have no ids.
    find: async () => null,
  };
}

function pageOf({ order = 'asc', after, createdBefore, skip = 0, limit }: PageQuery): GroupPage {
  return {
    order,
    skip,
    limit,
    ...(after === undefined ? {} : { after: { start: after.createdAt, id: after.id } }),
    ...(createdBefore === undefined ? {} : { before: createdBefore }),
  };
}

/** All rows, read while they are sent. */
async function wholeCsv(
  tools: AnalyticsTools,
  usageRequest: UsageRequest,
  filter: UsageFilter,
  grouping: Grouping,
): Promise<Answer> {
  const limit = grouping.time === null ? everyGroup : maxLimit;
  const read = (after: GroupPage['after']): Promise<readonly UsageGroup[]> => {
    const page: GroupPage = { order: 'asc', skip: 0, limit, ...(after === undefined ? {} : { after }) };
    return tools.analytics.read((reader) => reader.page(filter, grouping, page));
  };
  // Before the answer begins it can still be refused.
  const first = await refusing(usageRequest, read(undefined));
  async function* lines(): AsyncGenerator<string> {
    yield csvHeader(grouping);
    for (let groups = first; ; ) {
      const nameOf = await tools.names.of(groups, grouping);
      const text = groups.map((group) => csvRow(group, grouping, nameOf)).join('');
      if (text !== '') yield text;
      const last = groups.at(-1);
      if (last === undefined || groups.length < limit) return;
      groups = await read(last);
    }
  }
  return { status: 200, stream: { type: csvType, body: Readable.from(lines()) } };
}

function readFormat({ query, accept }: AdminRequest): 'json' | 'csv' {
  const format = readOnce(query, 'format');
  if (format === 'json' || format === 'csv') return format;
  if (format !== undefined) throw invalidOptions({ format: 'must be json or csv' });
  return prefersCsv(accept ?? '') ? 'csv' : 'json';
}

/** CSV must be named, with at least the weight of JSON. */
function prefersCsv(accept: string): boolean {
  const weightOf = (type: string): number => {
    for (const part of accept.toLowerCase().split(',')) {
      const [name = '', ...parameters] = part.split(';').map((word) => word.trim());
      if (name !== type) continue;
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
    }
    return 0;
  };
  const csv = weightOf('text/csv');
  return csv > 0 && csv >= weightOf('application/json');
}
