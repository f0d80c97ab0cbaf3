import { setImmediate as nextTurn } from 'node:timers/promises';
import { quantile } from '../../shared/usage/latency-sketch.ts';
import type { Analytics } from '../usage/analytics.ts';
import type { Grouping, UsageGroup } from '../usage/usage-reader.ts';
import { UsageSums } from './usage-sums.ts';

/** The first groups by each measure. */
export interface Ranking {
  readonly requests: readonly UsageGroup[];
  readonly errors: readonly UsageGroup[];
  /** By the 95th percentile. */
  readonly latency: readonly UsageGroup[];
}

/** Usage of this node in the last full minute and in the current one. */
export interface TopUsage {
  /** When the first of them began, and up to when requests are included; milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Null: there were no requests. */
  readonly totals: UsageGroup | null;
  /** By status, the most frequent first. */
  readonly statuses: readonly UsageGroup[];
  readonly routes: Ranking;
  readonly services: Ranking;
  readonly consumers: Ranking;
  /** Requests with 429 by route and consumer, the most first. */
  readonly limited: readonly UsageGroup[];
}

/** How the groups of each list differ. */
export const topGroupings = {
  totals: { by: [], time: null },
  statuses: { by: ['status'], time: null },
  routes: { by: ['route'], time: null },
  services: { by: ['service'], time: null },
  consumers: { by: ['consumer'], time: null },
  limited: { by: ['route', 'consumer'], time: null },
} as const satisfies Record<string, Grouping>;

/** Maximum groups of each list. */
const maxListed = 10;
const tooManyRequests = 429;
const rowsAtOnce = 100;
/** The maximum fraction of the time of the thread that reading takes. */
const share = 0.01;
const minInterval = 1_000;

/**
 * Reads the usage of the last minutes when it is requested, from memory only. Not more often than once a second, and less often the longer it
 * takes: with 10,000 series it takes a tenth of a second.
 */
export class TopUsageReader {
  readonly #analytics: Analytics;
  #latest: TopUsage | null = null;
  #next = 0;
  #reading: Promise<void> | null = null;

  constructor(analytics: Analytics) {
    this.#analytics = analytics;
  }

  /** What was read last; null: nothing yet. */
  get latest(): TopUsage | null {
    return this.#latest;
  }

  /** Resolves when `latest` is as new as it may be. Rejects when it cannot be read. */
  refresh(): Promise<void> {
    if (this.#reading !== null) return this.#reading;
    if (performance.now() < this.#next) return Promise.resolve();
    this.#reading = this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const groups = Object.fromEntries(
      Object.entries(topGroupings).map(([name, grouping]) => [name, new UsageSums(grouping.by)]),
    ) as Record<keyof typeof topGroupings, UsageSums>;
    let busy = 0;
    const { from, to } = await this.#analytics.recent(async (rows, range) => {
      let begun = performance.now();
      let read = 0;
      for (const { key, usage } of rows) {
        for (const [name, group] of Object.entries(groups)) {
          if (name !== 'limited' || key.status === tooManyRequests) group.add(key, usage);
        }
        if (++read % rowsAtOnce !== 0) continue;
        busy += performance.now() - begun;
        await nextTurn();
        begun = performance.now();
      }
      busy += performance.now() - begun;
      return range;
    });
    const begun = performance.now();
    const [totals = null] = groups.totals.groups();
    const byRequests = (list: UsageSums): readonly UsageGroup[] => first(list.groups(), ({ usage }) => usage.requests);
    this.#latest = {
      ...{ from, to, totals },
      statuses: byRequests(groups.statuses),
      routes: ranked(groups.routes),
      services: ranked(groups.services),
      consumers: ranked(groups.consumers),
      limited: byRequests(groups.limited),
    };
    const now = performance.now();
    this.#next = now + Math.max(minInterval, (busy + now - begun) / share);
  }
}

function ranked(sums: UsageSums): Ranking {
  const groups = sums.groups();
  return {
    requests: first(groups, ({ usage }) => usage.requests),
    errors: first(groups, ({ clientErrors, serverErrors }) => clientErrors + serverErrors),
    latency: first(groups, ({ usage: { latency } }) => quantile(latency.sketch, 0.95, latency.greatest) ?? 0),
  };
}

/** Without those that measure 0. */
function first(groups: readonly UsageGroup[], measure: (group: UsageGroup) => number): readonly UsageGroup[] {
  const measured = groups.map((group) => ({ group, value: measure(group) }));
  measured.sort((a, b) => b.value - a.value || (a.group.id < b.group.id ? -1 : 1));
  return measured
    .filter(({ value }) => value > 0)
    .slice(0, maxListed)
    .map(({ group }) => group);
}
