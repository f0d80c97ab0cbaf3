import type { ListedNode, NodeListing } from '../../nodes/node-list.ts';
import type { AdminDependencies } from '../contract.ts';
import { type AdminRoute, ok } from '../http/admin-route.ts';
import { notFound } from '../http/http-error.ts';

/** `GET /nodes`: the nodes that share the store. */
export function nodeRoutes({ nodes }: AdminDependencies): readonly AdminRoute[] {
  return [
    {
      path: '/nodes',
      tag: 'node',
      operations: {
        GET: {
          access: 'read',
          handle: async () => {
            const listing = await nodes.list();
            return ok({ data: listing.nodes.map(describe), next: null, total: listing.total, ...ageOf(listing) });
          },
          notes: { summary: 'Nodes that share the database', answer: 'entity', entity: 'nodes_report' },
        },
      },
    },
    {
      path: '/nodes/{nodes}',
      tag: 'node',
      operations: {
        GET: {
          access: 'read',
          handle: async ({ params }) => {
            const listing = await nodes.list();
            const found = listing.nodes.find(({ report }) => report.id === params['nodes']);
            if (found === undefined) throw notFound();
            return ok({ ...describe(found), ...ageOf(listing) });
          },
          notes: { summary: 'One node', answer: 'entity', entity: 'nodes' },
        },
      },
    },
  ];
}

function ageOf({ version, staleFor }: NodeListing): Readonly<Record<string, unknown>> {
  return { store_version: version, stale: staleFor !== null, age: staleFor === null ? 0 : staleFor / 1000 };
}

/** Times are seconds since the epoch. A report of another version may lack any member. */
function describe({ report, state, seenAt, lag }: ListedNode): Readonly<Record<string, unknown>> {
  const { config, load } = report;
  return {
    id: report.id,
    role: report.role,
    hostname: report.hostname,
    address: report.address,
    version: report.version,
    ...(report.labels === undefined ? {} : { labels: report.labels }),
    ...(report.controlPlane === undefined ? {} : { control_plane: report.controlPlane }),
    started_at: report.startedAt / 1000,
    last_seen: seenAt / 1000,
    state,
    not_ready_reason: report.notReady ?? null,
    config_version: config?.version ?? null,
    config_failures: config?.failures ?? null,
    lag:
      lag === null
        ? null
        : { versions: lag.versions, seconds: lag.milliseconds === null ? null : lag.milliseconds / 1000 },
    load: {
      workers: load?.workers ?? null,
      requests: load?.requests ?? null,
      requests_in_flight: load?.inFlight ?? null,
      event_loop_delay: load === undefined ? null : Math.round(load.loopDelay) / 1000,
      shed_requests: load?.shed ?? null,
    },
    unhealthy: report.unhealthy ?? [],
    circuits: report.circuits ?? [],
  };
}
