import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { HistoryRange, SortName } from './ranges.ts';

export interface Listed<T> {
  /** How many there are; `data` has the first 100. */
  readonly total: number;
  readonly data: readonly T[];
}

/** Requests that were answered with an error, by the first digit of the status. */
export interface Errors {
  readonly '4xx': number;
  readonly '5xx': number;
}

/** Milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** The traffic of some seconds. */
export interface Traffic {
  readonly seconds: number;
  readonly requests: number;
  readonly requests_per_second: number;
  readonly errors: Errors;
  readonly statuses: Readonly<Record<string, number>>;
  readonly latency: Latency | null;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly bad_requests: number;
  readonly shed_requests: number;
  readonly retries: number;
  readonly backend_failures: number;
  readonly connections_accepted: number;
}

/** The event `second` of `GET /overview/live`. */
export interface Second extends Traffic {
  /** Its end, seconds since the epoch. */
  readonly time: number;
  readonly in_flight: number;
  readonly connections: number;
}

/** An entity and what it is called; `*`: all that have no row of their own. */
export interface Named {
  readonly id: string;
  readonly name?: string | null;
  readonly username?: string | null;
}

/** A row of `GET /analytics/usage`. */
export interface UsageRow {
  readonly start?: string;
  readonly route?: Named | null;
  readonly service?: Named | null;
  readonly consumer?: Named | null;
  readonly status?: number | string;
  readonly requests: number;
  readonly errors: Errors;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly latency: (Latency & { readonly mean: number; readonly p95: number }) | null;
}

interface Ranking {
  readonly by_requests: readonly UsageRow[];
  readonly by_errors: readonly UsageRow[];
  readonly by_latency: readonly UsageRow[];
}

export interface NodeState {
  readonly id: string;
  readonly hostname: string;
  readonly role: string;
  readonly state: 'ready' | 'not ready' | 'silent';
  readonly version: string;
  readonly not_ready_reason: string | null;
  readonly config_version: number | null;
  readonly lag_versions: number | null;
  readonly requests_per_second: number | null;
}

export interface FailingTarget {
  readonly upstream: { readonly id: string; readonly name: string };
  readonly target: { readonly id: string; readonly target: string };
  readonly address: string | null;
  readonly reason: string | null;
  readonly since: number | null;
}

export interface Circuit {
  readonly plugin: { readonly id: string | null; readonly name: string };
  readonly name: string;
  readonly state: string;
  readonly since: number | null;
  readonly service: { readonly id: string } | null;
  readonly upstream: { readonly id: string; readonly name: string } | null;
  readonly target: { readonly id: string; readonly target: string } | null;
}

export interface LimitHit {
  readonly plugin: { readonly id: string; readonly name: string };
  readonly rejected: number;
  readonly delayed: number;
  readonly last: number;
}

export interface Workers {
  readonly wanted: number;
  readonly listening: number;
  readonly restarts: number;
  readonly stuck: number;
  readonly data: readonly {
    readonly worker: number;
    readonly state: string;
    /** Seconds. */
    readonly event_loop_delay: number;
    /** Bytes. */
    readonly heap_used: number;
  }[];
}

export interface Certificate {
  readonly certificate: { readonly id: string } | null;
  readonly ca_certificate: { readonly id: string } | null;
  readonly setting: string | null;
  readonly names: readonly string[];
  readonly expires_at: number;
  readonly expired: boolean;
  readonly managed_by: string | null;
}

export interface LogProblem {
  readonly level: string;
  readonly message: string;
  readonly count: number;
  readonly last: number;
  readonly fields: Readonly<Record<string, string | number>>;
}

/** What changes rarely: the event `state`. A part is null if the gateway could not read it. */
export interface OverviewState {
  readonly failing_targets: Listed<FailingTarget> | null;
  readonly circuits: Listed<Circuit> | null;
  readonly limits: (Listed<LimitHit> & { readonly seconds: number }) | null;
  readonly workers: Workers | null;
  readonly nodes:
    | (Listed<NodeState> & { readonly ready: number; readonly not_ready: number; readonly silent: number })
    | null;
  readonly certificates: (Listed<Certificate> & { readonly within_days: number }) | null;
  readonly config: {
    readonly version: number;
    readonly failures: Listed<{ readonly entity: string; readonly id: string; readonly reason: string }>;
  } | null;
  readonly database: { readonly kind: string; readonly reachable: boolean } | null;
  readonly log: {
    readonly last_hour: Readonly<Record<string, number>>;
    readonly data: readonly LogProblem[];
  } | null;
}

/** `GET /overview`. */
export interface Overview extends OverviewState {
  readonly time: number;
  readonly node: {
    readonly id: string;
    readonly hostname: string;
    readonly version: string;
    readonly role: string;
    readonly started_at: number;
    readonly ready: boolean;
    readonly not_ready_reason: string | null;
  };
  readonly traffic: { readonly last_minute: Traffic };
  /** Null: not counted (`analytics = off`), or not read yet. */
  readonly usage: {
    readonly from: number;
    readonly to: number;
    readonly totals: UsageRow;
    readonly statuses: readonly UsageRow[];
    readonly routes: Ranking;
    readonly services: Ranking;
    readonly consumers: Ranking;
    readonly limited: readonly UsageRow[];
  } | null;
  readonly descriptors: { readonly open: number; readonly limit: number; readonly exhaustions: number };
}

/** Milliseconds between two looks at what the events do not have. */
const refresh = 3_000;

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => call<Overview>('GET', '/overview', { signal }),
  refetchInterval: refresh,
});

/** `GET /analytics/summary`. */
export interface Summary {
  readonly from: string;
  readonly to: string;
  readonly resolution: 'minute' | 'hour' | 'day';
  readonly totals: UsageRow;
  readonly timeline: readonly UsageRow[];
  readonly routes: readonly UsageRow[];
  readonly services: readonly UsageRow[];
  readonly consumers: readonly UsageRow[];
  readonly statuses: readonly UsageRow[];
  /** Answers with 429 by route and consumer, from `GET /analytics/usage`. */
  readonly limited: readonly UsageRow[];
}

const listed = 10;
/** Of routes and consumers with answers of 429; the list has the first of them. */
const maxLimited = 1_000;

export function summaryQuery({ name, length, refresh: interval }: HistoryRange, sort: SortName) {
  return queryOptions({
    queryKey: ['usage', name, sort],
    queryFn: async ({ signal }): Promise<Summary> => {
      const range = `from=${Math.floor(Date.now() / 1000) - length}`;
      const [summary, limited] = await Promise.all([
        call<Omit<Summary, 'limited'>>('GET', `/analytics/summary?${range}&top=${listed}&sort=${sort}`, { signal }),
        call<{ readonly data: readonly UsageRow[] }>(
          'GET',
          `/analytics/usage?${range}&status=429&group_by=route,consumer&size=${maxLimited}`,
          { signal },
        ),
      ]);
      const most = limited.data.toSorted((a, b) => b.requests - a.requests).slice(0, listed);
      return { ...summary, limited: most };
    },
    refetchInterval: interval,
    placeholderData: keepPreviousData,
  });
}
