import { setImmediate as nextTurn } from 'node:timers/promises';
import { statusClass } from '../../shared/usage/series-key.ts';
import { mergeUsage, readUsage, type Usage } from '../../shared/usage/usage.ts';
import type { UsageKey, UsageQuery, UsageResolution, UsageStore } from '../store/usage-store.ts';
import { lengths, startOf } from './periods.ts';
import type { UsageLedger } from './usage-ledger.ts';

/** Fields, in addition to the time, by which usage can be grouped. */
export const dimensions = ['node', 'route', 'service', 'consumer', 'version', 'status'] as const;
export type Dimension = (typeof dimensions)[number];

/** Which requests are included. */
export type UsageFilter = Pick<UsageQuery, 'resolution' | 'from' | 'to' | 'where' | 'statuses'>;

export interface Grouping {
  readonly by: readonly Dimension[];
  /** Each group covers one minute, hour or day; null: the whole range. */
  readonly time: UsageResolution | null;
}

/** Usage of requests with the same values of the grouped fields. */
export interface UsageGroup {
  /** When its minute, hour or day began; 0 where groups have no time. */
  readonly start: number;
  /** Unique within the start; printable ASCII. */
  readonly id: string;
  /** The grouped fields; the others are those of any request of the group. */
  readonly key: UsageKey;
  usage: Usage;
  /** Requests whose status was 4xx, 5xx. */
  clientErrors: number;
  serverErrors: number;
}

/** The requested part of all groups, in the order of start and id. */
export interface GroupPage {
  readonly order: 'asc' | 'desc';
  readonly after?: { readonly start: number; readonly id: string };
  /** Only groups that began earlier. */
  readonly before?: number;
  readonly skip: number;
  readonly limit: number;
}

/** One request would have to read or group more than the maximum. */
export class TooMuchUsage extends Error {
  constructor(what: string) {
    super(`more than ${what}`);
    this.name = 'TooMuchUsage';
  }
}

const rowsAtOnce = 250;
/** Maximum rows that one request may read. */
const defaultMaxRows = 200_000;
const maxGroups = 20_000;

/** Reads usage: rows of the store, and counts that this node has not written yet. */
export class UsageReader {
  readonly #store: UsageStore;
  readonly #ledger: UsageLedger;
  readonly #maxRows: number;

  constructor(store: UsageStore, ledger: UsageLedger, maxRows = defaultMaxRows) {
    this.#store = store;
    this.#ledger = ledger;
    this.#maxRows = maxRows;
  }

  /** A page of groups. When grouped by time, only the rows of the page are read. */
  async page(filter: UsageFilter, grouping: Grouping, page: GroupPage): Promise<readonly UsageGroup[]> {
    const groups = new UsageGroups(grouping);
    const { time } = grouping;
    const wanted = page.skip + page.limit;
    const isEnough = (last: UsageKey): boolean => {
      if (time === null) return false;
      const boundary = startOf(time, last.start);
      return groups.countIn(page, boundary) >= wanted;
    };
    await this.#visit(narrowed(filter, time, page), page.order, (key, usage) => groups.add(key, usage), isEnough);
    return groups.sorted(page).slice(page.skip, wanted);
  }

  /** All groups of several groupings, in one read. */
  async all(filter: UsageFilter, groupings: readonly Grouping[]): Promise<readonly UsageGroups[]> {
    const all = groupings.map((grouping) => new UsageGroups(grouping));
    await this.#visit(filter, 'asc', (key, usage) => {
      for (const groups of all) groups.add(key, usage);
    });
    return all;
  }

  async #visit(
    filter: UsageFilter,
    order: 'asc' | 'desc',
    visit: (key: UsageKey, usage: Usage) => void,
    isEnough: (last: UsageKey) => boolean = () => false,
  ): Promise<void> {
    const wanted = filterOf(filter);
    let seen = 0;
    for (const { key, usage } of this.#ledger.unwritten(filter.resolution)) {
      if (wanted(key)) visit(key, usage);
      if (++seen % rowsAtOnce === 0) await nextTurn();
    }
    let after: UsageKey | undefined;
    const limit = Math.min(rowsAtOnce, this.#maxRows);
    for (let read = 0; ; read += limit) {
      if (read >= this.#maxRows) throw new TooMuchUsage(`${this.#maxRows} rows`);
      const rows = await this.#store.readUsage({
        ...filter,
        order,
        limit,
        ...(after === undefined ? {} : { after }),
      });
      for (const row of rows) {
        const usage = readUsage(row.data);
        if (usage !== null) visit(row, usage);
      }
      after = rows.at(-1);
      if (after === undefined || rows.length < limit || isEnough(after)) return;
      await nextTurn();
    }
  }
}

/** Grouped usage. */
export class UsageGroups {
  readonly #grouping: Grouping;
  readonly #groups = new Map<string, UsageGroup>();

  constructor(grouping: Grouping) {
    this.#grouping = grouping;
  }

  add(key: UsageKey, usage: Usage): void {
    const { by, time } = this.#grouping;
    const start = time === null ? 0 : startOf(time, key.start);
    // With a prefix, since ids must not be empty.
    let id = 'u';
    for (const dimension of by) id += `/${encodeURIComponent(String(key[dimension]).toWellFormed())}`;
    const name = `${start} ${id}`;
    const known = this.#groups.get(name);
    const group = known ?? { start, id, key, usage, clientErrors: 0, serverErrors: 0 };
    if (known === undefined) {
      if (this.#groups.size >= maxGroups) throw new TooMuchUsage(`${maxGroups} groups`);
      this.#groups.set(name, group);
    } else group.usage = mergeUsage(group.usage, usage);
    const kind = statusClass(key.status);
    if (kind === 4) group.clientErrors += usage.requests;
    if (kind === 5) group.serverErrors += usage.requests;
  }

  values(): Iterable<UsageGroup> {
    return this.#groups.values();
  }

  sorted(page: Pick<GroupPage, 'order' | 'after' | 'before'>): readonly UsageGroup[] {
    const sign = page.order === 'asc' ? 1 : -1;
    return [...this.#groups.values()].filter((group) => isIn(page, group)).sort((a, b) => sign * compare(a, b));
  }

  /** Groups of a page that rows from `boundary` on cannot change. */
  countIn(page: GroupPage, boundary: number): number {
    let count = 0;
    for (const group of this.#groups.values()) {
      const isOver = page.order === 'asc' ? group.start < boundary : group.start > boundary;
      if (isOver && isIn(page, group)) count++;
    }
    return count;
  }
}

function isIn({ order, after, before }: Pick<GroupPage, 'order' | 'after' | 'before'>, group: UsageGroup): boolean {
  if (before !== undefined && group.start >= before) return false;
  if (after === undefined) return true;
  const comparison = compare(group, after);
  return order === 'asc' ? comparison > 0 : comparison < 0;
}

function compare(a: Pick<UsageGroup, 'start' | 'id'>, b: Pick<UsageGroup, 'start' | 'id'>): number {
  return a.start - b.start || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Narrows the range to the rows that a page of groups by time can contain. */
function narrowed(filter: UsageFilter, time: UsageResolution | null, { order, after, before }: GroupPage): UsageFilter {
  if (time === null) return filter;
  const length = lengths[time];
  const to = before === undefined ? filter.to : Math.min(filter.to, before + length);
  if (after === undefined) return { ...filter, to };
  return order === 'asc'
    ? { ...filter, to, from: Math.max(filter.from, after.start) }
    : { ...filter, to: Math.min(to, after.start + length) };
}

function filterOf({ from, to, where = {}, statuses }: UsageFilter): (key: UsageKey) => boolean {
  const fields = Object.entries(where) as [keyof typeof where, readonly string[]][];
  return (key) =>
    key.start >= from &&
    key.start < to &&
    fields.every(([field, values]) => values.includes(key[field])) &&
    (statuses === undefined || statuses.some(([least, most]) => key.status >= least && key.status <= most));
}
