import { isIP } from 'node:net';
import type { Row } from '../../entities/entity.ts';
import { presentRow } from '../../entities/rows.ts';
import type { AdminDependencies } from '../contract.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import { list } from '../crud/entity-routes.ts';
import { listEntities } from '../crud/list-entities.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { plainError } from '../http/http-error.ts';
import { eachRow } from '../lists/each-row.ts';
import { needTarget, needUpstream } from './target-lookup.ts';

/** What is known of a target while no checker watches it. */
const unchecked = 'HEALTHCHECKS_OFF';

/**
 * Health of an upstream's targets as this node sees it. This node runs no health checkers, so it claims neither health
 * nor illness of any target, and there is no state that could be set by hand.
 */
export function upstreamHealthRoutes(context: AdminContext, deps: AdminDependencies): readonly AdminRoute[] {
  const target = '/upstreams/{upstreams}/targets/{targets}';
  return [
    {
      path: '/upstreams/{upstreams}/health',
      tag: 'upstreams',
      operations: {
        GET: {
          handle: (request) => readHealth(context, deps, request),
          notes: {
            ...list('targets'),
            summary: 'Health of the targets of an upstream',
            queryParameters: [{ name: 'balancer_health', description: '1 asks for the health of the upstream itself' }],
          },
        },
      },
    },
    ...[target, `${target}/{address}`].flatMap((path) =>
      ['healthy', 'unhealthy'].map((state) => setHealth(context, path, state)),
    ),
  ];
}

function setHealth(context: AdminContext, path: string, state: string): AdminRoute {
  return {
    path: `${path}/${state}`,
    tag: 'targets',
    operations: {
      PUT: {
        handle: async (request) => {
          const { upstream } = await needTarget(context, context.store, request);
          throw plainError(400, `no healthchecker found for ${String(upstream['name'])}`);
        },
        notes: { summary: `Mark a target ${state}; needs a running health checker`, answer: 'none', status: 204 },
      },
    },
  };
}

async function readHealth(context: AdminContext, deps: AdminDependencies, request: AdminRequest): Promise<Answer> {
  const upstream = await needUpstream(context, context.store, request);
  if (request.query.first('balancer_health') === '1') return balancerHealth(context, deps, upstream);
  const targets = context.entity('targets');
  const page = await listEntities(context, targets, request, {
    parent: { field: 'upstream', id: upstream.id },
    kongDirection: 'desc',
    show: async (rows) => rows.map((row) => ({ ...presentRow(targets, row), health: unchecked, data: hostOf(row) })),
  });
  return ok({ ...(page.json as object), node_id: deps.node.nodeId });
}

async function balancerHealth(context: AdminContext, deps: AdminDependencies, upstream: Row): Promise<Answer> {
  const hosts: ReturnType<typeof hostOf>[] = [];
  for await (const row of eachRow(context.store, 'targets', { where: { upstream: upstream.id } }))
    hosts.push(hostOf(row));
  const total = hosts.reduce((sum, host) => sum + host.weight.total, 0);
  const data = {
    id: upstream.id,
    health: unchecked,
    balancer_health: total > 0 ? 'HEALTHY' : 'UNHEALTHY',
    details: { healthy: total > 0, weight: { total, available: total, unavailable: 0 }, hosts },
  };
  return ok({ data, next: null, node_id: deps.node.nodeId });
}

interface Host {
  readonly host: string;
  readonly port: number;
  readonly nodeWeight: number;
  readonly weight: { readonly total: number; readonly available: number; readonly unavailable: number };
  /** Empty for names: the control plane does not resolve them. */
  readonly addresses: readonly {
    readonly ip: string;
    readonly port: number;
    readonly weight: number;
    readonly health: string;
  }[];
}

function hostOf(target: Row): Host {
  const text = String(target['target']);
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon);
  const ip = host.replace(/^\[|\]$/g, '');
  const port = Number(text.slice(colon + 1));
  const weight = typeof target['weight'] === 'number' ? target['weight'] : 0;
  return {
    host,
    port,
    nodeWeight: weight,
    weight: { total: weight, available: weight, unavailable: 0 },
    addresses: isIP(ip) === 0 ? [] : [{ ip, port, weight, health: unchecked }],
  };
}
