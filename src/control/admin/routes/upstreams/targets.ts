import type { AdminContext } from '../../crud/admin-context.ts';
import { removeEntity } from '../../crud/entity-handlers.ts';
import { create, list, one, remove, update } from '../../crud/entity-routes.ts';
import { listEntities } from '../../crud/list-entities.ts';
import { showEntity } from '../../crud/show-entity.ts';
import { insertEntity, patchEntity, readInput } from '../../crud/write-entity.ts';
import { type AdminRequest, type AdminRoute, type Answer, noContent, ok } from '../../http/admin-route.ts';
import type { Direction } from '../../lists/cursor-token.ts';
import { needTarget, needUpstream } from './target-lookup.ts';

/** Targets live below their upstream only, are listed newest first, and are never created by PUT. */
export function targetRoutes(context: AdminContext): readonly AdminRoute[] {
  const base = '/upstreams/{upstreams}/targets';
  const change = (request: AdminRequest): Promise<Answer> => updateTarget(context, request);
  return [
    {
      path: base,
      tag: 'targets',
      operations: {
        GET: { access: 'read', handle: (request) => listTargets(context, request, 'desc'), notes: list('targets') },
        POST: { access: 'edit', handle: (request) => createTarget(context, request), notes: create('targets') },
      },
    },
    {
      path: `${base}/all`,
      tag: 'targets',
      operations: {
        GET: { access: 'read', handle: (request) => listTargets(context, request, 'asc'), notes: list('targets') },
      },
    },
    {
      path: `${base}/{targets}`,
      tag: 'targets',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => readTarget(context, request),
          notes: one('Read one of the targets', 'targets'),
        },
        PUT: { access: 'edit', handle: change, notes: update('targets') },
        PATCH: { access: 'edit', handle: change, notes: update('targets') },
        DELETE: { access: 'edit', handle: (request) => deleteTarget(context, request), notes: remove('targets') },
      },
    },
  ];
}

/** The same for reading only. */
export function readTargetRoutes(context: AdminContext): readonly AdminRoute[] {
  return targetRoutes(context).map((route) => {
    const { GET } = route.operations;
    return { ...route, operations: GET === undefined ? {} : { GET } };
  });
}

async function listTargets(context: AdminContext, request: AdminRequest, direction: Direction): Promise<Answer> {
  const upstream = await needUpstream(context, context.store, request);
  return listEntities(context, context.entity('targets'), request, {
    parent: { field: 'upstream', id: upstream.id },
    kongDirection: direction,
  });
}

async function createTarget(context: AdminContext, request: AdminRequest): Promise<Answer> {
  const targets = context.entity('targets');
  const json = await context.commit(request, async (writer) => {
    const upstream = await needUpstream(context, writer, request);
    const input = { ...readInput(targets, request.body), upstream: { id: upstream.id } };
    return insertEntity(context, writer, targets, input);
  });
  return { status: 201, json };
}

async function readTarget(context: AdminContext, request: AdminRequest): Promise<Answer> {
  const { target } = await needTarget(context, context.store, request);
  return ok(await showEntity(context, context.store, context.entity('targets'), target));
}

async function updateTarget(context: AdminContext, request: AdminRequest): Promise<Answer> {
  const targets = context.entity('targets');
  const json = await context.commit(request, async (writer) => {
    const { target } = await needTarget(context, writer, request);
    return patchEntity(context, writer, targets, target, readInput(targets, request.body, target));
  });
  return ok(json);
}

async function deleteTarget(context: AdminContext, request: AdminRequest): Promise<Answer> {
  await context.commit(request, async (writer) => {
    const { target } = await needTarget(context, writer, request);
    await removeEntity(context, writer, context.entity('targets'), target);
  });
  return noContent;
}
