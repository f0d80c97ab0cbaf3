import { queryOptions } from '@tanstack/react-query';
import { ApiError, call } from '../api/client.ts';
import { rowsQuery } from '../api/queries.ts';

export interface PluginDocs {
  readonly name: string;
  /** Markdown; null: it has none. */
  readonly readme: string | null;
  /** Absent on a gateway of an earlier version. */
  readonly version?: string;
  readonly bundled?: boolean;
  /** Null: not declared. */
  readonly capabilities?: readonly string[] | null;
}

export function pluginDocsQuery(name: string) {
  return queryOptions({
    queryKey: ['plugin-docs', name],
    queryFn: ({ signal }) => call<PluginDocs>('GET', `/schemas/plugins/${encodeURIComponent(name)}/docs`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Null: there is none, or it cannot be read. For what works without it, too. */
export function optionalReadmeQuery(plugin: string | null) {
  return queryOptions({
    queryKey: ['plugin-readme', plugin],
    queryFn: async ({ client }): Promise<string | null> => {
      if (plugin === null) return null;
      return await client.fetchQuery(pluginDocsQuery(plugin)).then(
        ({ readme }) => readme,
        () => null,
      );
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Instances that are counted; of more, the first. */
export const instancesQuery = rowsQuery('/plugins', 5000);

/** What one plugin costs a request on this node, in microseconds. */
export interface PluginCost {
  readonly plugin: string;
  readonly samples: number;
  readonly p50: number;
  readonly p99: number;
}

interface Costs {
  readonly data: readonly PluginCost[];
  /** Recorded requests that were measured. */
  readonly requests: number;
}

/** Null: this gateway does not measure it, or has recorded no requests. */
export const costsQuery = queryOptions({
  queryKey: ['plugin-costs'],
  queryFn: async ({ signal }): Promise<Costs | null> => {
    try {
      return await call<Costs>('GET', '/traffic/plugins', { signal });
    } catch (error) {
      if (error instanceof ApiError && error.status !== 401) return null;
      throw error;
    }
  },
  refetchInterval: 10_000,
});

interface Overview {
  readonly config?: {
    readonly failures?: {
      readonly data: readonly { readonly entity: string; readonly id: string; readonly reason: string }[];
    };
  } | null;
}

/** Reasons by id of the instances that the workers cannot use. */
export const failuresQuery = queryOptions({
  queryKey: ['plugin-failures'],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const { config } = await call<Overview>('GET', '/overview', { signal });
    return new Map((config?.failures?.data ?? []).map(({ id, reason }) => [id, reason]));
  },
});

const microseconds = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 });

export function durationText(value: number): string {
  return value < 1000 ? `${microseconds.format(value)} µs` : `${microseconds.format(value / 1000)} ms`;
}
