import type { Row } from '../../../../shared/entities/entity.ts';
import { presentRow } from '../../../../shared/entities/rows.ts';
import { requireOwn } from '../../access/require-access.ts';
import type { AdminDependencies } from '../../contract.ts';
import type { AdminContext } from '../../crud/admin-context.ts';
import { list } from '../../crud/entity-routes.ts';
import { listEntities } from '../../crud/list-entities.ts';
import { type AdminRequest, type AdminRoute, type Answer, noContent, ok } from '../../http/admin-route.ts';
import { notFound, plainError } from '../../http/http-error.ts';
import { iterateRows } from '../../lists/iterate-rows.ts';
import { normalAddress, overallHealth, shownTarget } from './target-health.ts';
import { needTarget, needUpstream } from './target-lookup.ts';

/** Health of an upstream's targets as this node sees it, and how to set it by hand. */
export function upstreamHealthRoutes(context: AdminContext, deps: AdminDependencies): readonly AdminRoute[] {
  const target = '/upstreams/{upstreams}/targets/{targets}';
  return [
    readHealthRoute(context, deps),
    ...[target, `${target}/{address}`].flatMap((path) =>
      [true, false].map((healthy) => setHealth(context, deps, path, healthy)),
    ),
  ];
}

const checkedByDataPlanes =
  'a control plane checks no backends: GET /nodes lists those that each data plane does not use, and its status listener has this path';

/** `GET /upstreams/{upstream}/health`. */
export function readHealthRoute(context: AdminContext, deps: AdminDependencies): AdminRoute {
  return {
    path: '/upstreams/{upstreams}/health',
    tag: 'upstreams',
    operations: {
      GET: {
        access: 'read',
        handle: (request) => readHealth(context, deps, request),
        notes: {
          ...list('targets'),
          summary: 'Health of the targets of an upstream',
          queryParameters: [{ name: 'balancer_health', description: '1 asks for the health of the upstream itself' }],
        },
      },
    },
  };
}

function setHealth(context: AdminContext, deps: AdminDependencies, path: string, healthy: boolean): AdminRoute {
  const state = healthy ? 'healthy' : 'unhealthy';
  return {
    path: `${path}/${state}`,
    tag: 'targets',
    operations: {
      PUT: {
        access: 'edit',
        handle: async (request) => {
          const { upstream, target } = await needTarget(context, context.store, request);
          // It is no change of a row, so nothing else checks it.
          requireOwn(request.caller, 'upstreams', upstream);
          requireOwn(request.caller, 'targets', target);
          const given = request.params['address'];
          const address = given === undefined ? null : normalAddress(given);
          const outcome = await deps.health.setHealth(upstream.id, target.id, address, healthy);
          if (outcome === 'off') throw plainError(400, `no healthchecker found for ${String(upstream['name'])}`);
          if (outcome === 'done') return noContent;
          if (address !== null) throw notFound();
          throw plainError(400, `no address of ${String(target['target'])} is known`);
        },
        notes: { summary: `Mark a target ${state}; needs a running health checker`, answer: 'none', status: 204 },
      },
    },
  };
}

async function readHealth(context: AdminContext, deps: AdminDependencies, request: AdminRequest): Promise<Answer> {
  if (deps.settings.role === 'control_plane') throw plainError(400, checkedByDataPlanes);
  const upstream = await needUpstream(context, context.store, request);
  if (request.query.first('balancer_health') === '1') return balancerHealth(context, deps, upstream);
  const targets = context.entity('targets');
  const state = deps.health.stateOf(upstream.id);
  const page = await listEntities(context, targets, request, {
    parent: { field: 'upstream', id: upstream.id },
    kongDirection: 'desc',
    show: async (rows) => rows.map((row) => ({ ...presentRow(targets, row), ...shownTarget(row, state) })),
  });
  return ok({ ...(page.json as object), node_id: deps.node.nodeId });
}

async function balancerHealth(context: AdminContext, deps: AdminDependencies, upstream: Row): Promise<Answer> {
  const state = deps.health.stateOf(upstream.id);
  const hosts: ReturnType<typeof shownTarget>['data'][] = [];
  for await (const row of iterateRows(context.store, 'targets', { where: { upstream: upstream.id } }))
    hosts.push(shownTarget(row, state).data);
  return ok({
    data: { id: upstream.id, ...overallHealth(hosts, state) },
    next: null,
    node_id: deps.node.nodeId,
  });
}
