import { queryOptions } from '@tanstack/react-query';
import { ApiError, call } from '../api/client.ts';
import type { Row } from '../api/queries.ts';

/** An instance in `GET /routes/{route}/effective-plugins`. */
export interface EffectivePlugin {
  readonly id: string;
  readonly name: string;
  readonly instance_name: string | null;
  readonly scope: readonly string[];
  readonly priority: number;
  readonly error: string | null;
}

export interface EffectivePlugins {
  readonly authenticated_by: string | null;
  readonly authenticators: readonly string[];
  readonly data: readonly EffectivePlugin[];
  readonly shadowed: readonly (EffectivePlugin & { readonly by: string | null; readonly because: string })[];
}

/** `consumer`, `authenticatedBy`: '' is the default of the Admin API. */
export function effectivePluginsQuery(route: string, consumer = '', authenticatedBy = '') {
  return queryOptions({
    queryKey: ['effective-plugins', route, consumer, authenticatedBy],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams();
      if (consumer !== '') query.set('consumer', consumer);
      if (consumer !== '' && authenticatedBy !== '') query.set('authenticated_by', authenticatedBy);
      const path = `/routes/${encodeURIComponent(route)}/effective-plugins`;
      return call<EffectivePlugins>('GET', query.size === 0 ? path : `${path}?${query}`, { signal });
    },
  });
}

export interface ShownTarget {
  readonly id: string;
  readonly target: string;
  readonly weight: number;
  /** `HEALTHY`, `UNHEALTHY`, `HEALTHCHECKS_OFF`, `DNS_ERROR`; null: unknown. */
  readonly health: string | null;
}

export interface Backends {
  /** Null: the host of the service is no upstream. */
  readonly upstream: Row | null;
  readonly targets: readonly ShownTarget[];
}

/** The upstream of a service with this host, and its targets with their health. */
export function backendsQuery(host: string) {
  return queryOptions({
    queryKey: ['backends', host],
    queryFn: async ({ signal }): Promise<Backends> => {
      const upstream = await call<Row>('GET', `/upstreams/${encodeURIComponent(host)}`, { signal }).catch(
        (error: unknown) => {
          if (error instanceof ApiError && error.status === 404) return null;
          throw error;
        },
      );
      if (upstream === null) return { upstream, targets: [] };
      const path = `/upstreams/${upstream.id}`;
      const health = await call<{ readonly data: readonly ShownTarget[] }>('GET', `${path}/health?size=${maxTargets}`, {
        signal,
      }).catch((error: unknown) => {
        // A control plane checks no backends.
        if (error instanceof ApiError && error.status === 400) return null;
        throw error;
      });
      if (health !== null) return { upstream, targets: health.data };
      const { data } = await call<{ readonly data: readonly ShownTarget[] }>(
        'GET',
        `${path}/targets?size=${maxTargets}`,
        { signal },
      );
      return { upstream, targets: data.map((target) => ({ ...target, health: null })) };
    },
    refetchInterval: 10_000,
  });
}

/** Targets that the picture contains. */
export const maxTargets = 100;
