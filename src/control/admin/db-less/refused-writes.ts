import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import { operationUnsupported } from '../../../shared/schema/errors.ts';
import type { StoreWriter } from '../../store/store.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import { idOf } from '../crud/find-entity.ts';
import { kongError } from '../errors.ts';
import type { AdminRequest, AdminRoute, Handler, Method, Operation } from '../http/admin-route.ts';
import type { HttpError } from '../http/http-error.ts';

/** A write of an entity that only a declarative document can change. */
class RefusedWrite extends Error {}

/**
 * A context without a database: a request that writes is checked as always, and refused where it would write. So an invalid body
 * or a missing entity is answered as with a database, as in Kong.
 */
export function refusingContext(context: AdminContext): AdminContext {
  return {
    ...context,
    commit: (_request, work) => work(refusingWriter(context)),
    rehearse: (_request, work) => work(refusingWriter(context)),
  };
}

function refusingWriter({ store }: AdminContext): StoreWriter {
  const refuse = async (): Promise<never> => {
    throw new RefusedWrite();
  };
  return {
    get: (entity, id) => store.get(entity, id),
    findBy: (entity, field, value) => store.findBy(entity, field, value),
    list: (entity, query) => store.list(entity, query),
    count: (entity) => store.count(entity),
    hasExpired: () => store.hasExpired(),
    now: Date.now(),
    changes: [],
    insert: refuse,
    update: refuse,
    delete: refuse,
    deleteExpired: refuse,
    writeRows: refuse,
    changedSince: refuse,
    rowsSince: refuse,
    attribute: () => {},
    audit: refuse,
  };
}

/** The route, with Kong's message where a write is refused. */
export function explainRefusals(context: AdminContext, route: AdminRoute): AdminRoute {
  const entries = Object.entries(route.operations) as [Method, Operation][];
  const operations = entries.map(([method, operation]) => {
    if (!(method in verbs)) return [method, operation] as const;
    const definition = writtenEntity(context, route, operation);
    if (definition === null) return [method, operation] as const;
    const verb = verbs[method as keyof typeof verbs];
    return [method, { ...operation, handle: explained(operation.handle, definition, verb) }] as const;
  });
  return { ...route, operations: Object.fromEntries(operations) };
}

const verbs = { POST: 'create', PUT: 'create or update', PATCH: 'update', DELETE: 'remove' } as const;

/** The last segment of the path names it: `/services/{services}/routes/{routes}`. Others say it in their notes. */
function writtenEntity(context: AdminContext, { path }: AdminRoute, { notes }: Operation): EntityDefinition | null {
  const last = path === '/apis/import' ? 'apis' : /\{([^}]+)\}$/.exec(path)?.[1];
  return context.entities.byName(last ?? notes.entity ?? '') ?? null;
}

function explained(handle: Handler, definition: EntityDefinition, verb: string): Handler {
  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      throw error instanceof RefusedWrite ? unsupported(definition, verb, request) : error;
    }
  };
}

function unsupported({ name, path, endpointKey }: EntityDefinition, verb: string, { params }: AdminRequest): HttpError {
  const segment = params[name];
  // Targets, which have no collection of their own, are found first and then written by their id.
  const byName = segment !== undefined && endpointKey !== null && path !== null && idOf(segment) === null;
  const by = byName ? ` by '${endpointKey}'` : '';
  return kongError(operationUnsupported(`cannot ${verb} '${name}' entities${by} when not using a database`));
}
