import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';

/** A version of the config: the state after one write. */
export interface Version {
  readonly version: number;
  /** ISO 8601. */
  readonly at: string;
  /** Null: the gateway itself. */
  readonly actor: string | null;
  readonly action: 'write' | 'apply' | 'rollback' | 'undo' | 'start';
  readonly note: string | null;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

/** One entity that differs between two versions; secrets are hidden by the gateway. */
export interface ShownChange {
  readonly operation: 'create' | 'update' | 'delete';
  readonly entity: string;
  readonly id: string;
  readonly label?: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface ShownChanges {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly changes: readonly ShownChange[];
  readonly truncated: boolean;
}

export interface VersionWithChanges extends Version {
  readonly changes: readonly ShownChange[];
  readonly truncated: boolean;
}

export interface AuditRecord {
  readonly id: string;
  readonly at: string;
  readonly operation: string;
  readonly client: string | null;
  readonly method: string;
  readonly path: string;
  readonly request_id: string;
  readonly entity: string | null;
  readonly entity_id: string | null;
  readonly name: string | null;
}

interface Page<T> {
  readonly data: readonly T[];
  readonly next: string | null;
}

export interface HistoryFilters {
  readonly actor?: string;
  readonly entity?: string;
  /** ISO 8601. */
  readonly since?: string;
}

const pageSize = 50;
/** Changes of one version that are shown. */
export const maxShown = 200;

/** The versions, newest first, in pages. */
export function versionsQuery(filters: HistoryFilters) {
  const query = new URLSearchParams({ size: String(pageSize), ...filters });
  return infiniteQueryOptions({
    queryKey: ['versions', filters],
    initialPageParam: `/config/versions?${query}`,
    queryFn: ({ pageParam, signal }) => call<Page<Version>>('GET', pageParam, { signal }),
    getNextPageParam: ({ next }) => next,
  });
}

export function versionQuery(version: string) {
  return queryOptions({
    queryKey: ['version', version],
    queryFn: ({ signal }) =>
      call<VersionWithChanges>('GET', `/config/versions/${encodeURIComponent(version)}?changes=${maxShown}`, {
        signal,
      }),
  });
}

export function diffQuery(version: string, against: string) {
  const other = against === 'current' ? '' : `&against=${encodeURIComponent(against)}`;
  return queryOptions({
    queryKey: ['version-diff', version, against],
    queryFn: ({ signal }) =>
      call<ShownChanges>('GET', `/config/versions/${encodeURIComponent(version)}/diff?changes=${maxShown}${other}`, {
        signal,
      }),
  });
}

/** What a rollback would change. */
export function rollbackQuery(version: string) {
  return queryOptions({
    queryKey: ['rollback', version],
    queryFn: ({ signal }) =>
      call<ShownChanges>(
        'POST',
        `/config/versions/${encodeURIComponent(version)}/rollback?dry_run=1&changes=${maxShown}`,
        {
          signal,
        },
      ),
    gcTime: 0,
    retry: false,
  });
}

/** The audit records of some versions, by their time: each write has its own. Empty when there is no audit. */
export function auditQuery(versions: readonly Version[]) {
  const [newest, oldest] = [versions[0]?.at, versions.at(-1)?.at];
  return queryOptions({
    queryKey: ['audit', newest, oldest],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, readonly AuditRecord[]>> => {
      const before = new Date(Date.parse(newest ?? '') + 1).toISOString();
      const query = new URLSearchParams({ since: oldest ?? '', before, size: '1000' });
      const { data } = await call<Page<AuditRecord>>('GET', `/audit?${query}`, { signal });
      return Map.groupBy(data, ({ at }) => at);
    },
    enabled: newest !== undefined,
    retry: false,
  });
}
