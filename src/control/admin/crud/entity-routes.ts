import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import type { Access, AdminRequest, AdminRoute, Answer, Operation, OperationNotes } from '../http/admin-route.ts';
import type { AdminContext } from './admin-context.ts';
import * as flat from './entity-handlers.ts';
import { listEntities } from './list-entities.ts';
import * as nested from './nested-handlers.ts';
import * as referenced from './referenced-handlers.ts';

/** Entities whose references have no path of their own in Kong. */
const withoutReferencePaths: ReadonlySet<string> = new Set(['snis', 'targets']);

/**
 * Every path of every entity: collections, single entities, the entities that they refer to and that refer to them.
 * `contextFor`: the context in which an entity is written.
 */
export function entityRoutes(context: AdminContext, contextFor: ContextFor): readonly AdminRoute[] {
  const routes = context.entities.definitions.flatMap((definition) => [
    ...(definition.path === null ? [] : flatRoutes(contextFor, definition, definition.path)),
    ...nestedRoutes(contextFor(definition), definition),
  ]);
  const secret = context.entities.definitions.filter(isNamedBySecret).map(({ name }) => name);
  return routes.map((route) => {
    const secretParams = secret.filter((name) => route.path.includes(`{${name}}`));
    return secretParams.length === 0 ? route : { ...route, secretParams };
  });
}

/** `/key-auths/<key>` */
function isNamedBySecret({ endpointKey, schema }: EntityDefinition): boolean {
  return endpointKey !== null && schema.fields.get(endpointKey)?.meta.encrypted === true;
}

type ContextFor = (definition: EntityDefinition) => AdminContext;

function flatRoutes(contextFor: ContextFor, definition: EntityDefinition, path: string): readonly AdminRoute[] {
  const { name } = definition;
  const context = contextFor(definition);
  const collection: AdminRoute = {
    path: `/${path}`,
    tag: name,
    operations: {
      GET: operation('read', (request) => listEntities(context, definition, request), list(name)),
      POST: operation('edit', (request) => flat.createHandler(context, definition, request), create(name)),
    },
  };
  const single: AdminRoute = {
    path: `/${path}/{${name}}`,
    tag: name,
    operations: {
      GET: operation(
        'read',
        (request) => flat.readHandler(context, definition, request),
        one(`Read one of the ${name}`, name),
      ),
      PUT: operation('edit', (request) => flat.replaceHandler(context, definition, request), replace(name)),
      PATCH: operation('edit', (request) => flat.updateHandler(context, definition, request), update(name)),
      DELETE: operation('edit', (request) => flat.deleteHandler(context, definition, request), remove(name)),
    },
  };
  return [collection, single, ...referenceRoutes(contextFor, definition, path)];
}

function referenceRoutes(contextFor: ContextFor, owner: EntityDefinition, path: string): readonly AdminRoute[] {
  if (withoutReferencePaths.has(owner.name)) return [];
  return Object.entries(owner.foreign).map(([field, { entity: name }]): AdminRoute => {
    const entity = contextFor(owner).entity(name);
    const context = contextFor(entity);
    const place = { owner, field, entity };
    return {
      path: `/${path}/{${owner.name}}/${field}`,
      tag: owner.name,
      operations: {
        GET: operation(
          'read',
          (request) => referenced.readReferenced(context, place, request),
          one(`Read what '${field}' refers to`, name),
        ),
        PUT: operation('edit', (request) => referenced.replaceReferenced(context, place, request), replace(name)),
        PATCH: operation('edit', (request) => referenced.updateReferenced(context, place, request), update(name)),
        DELETE: operation('edit', (request) => referenced.deleteReferenced(context, place, request), {
          summary: `Refused: '${field}' is unset by a PATCH of its owner`,
          answer: 'object',
          status: 405,
          hidden: true,
        }),
      },
    };
  });
}

function nestedRoutes(context: AdminContext, child: EntityDefinition): readonly AdminRoute[] {
  const { name } = child;
  return child.nestedUnder.flatMap((place): readonly AdminRoute[] => {
    const parent = context.entity(place.entity);
    const nesting = { child, parent, place };
    const base = `/${parent.path}/{${parent.name}}/${place.path}`;
    return [
      {
        path: base,
        tag: name,
        operations: {
          GET: operation('read', (request) => nested.listNested(context, nesting, request), list(name)),
          POST: operation('edit', (request) => nested.createNested(context, nesting, request), create(name)),
        },
      },
      {
        path: `${base}/{${name}}`,
        tag: name,
        operations: {
          GET: operation(
            'read',
            (request) => nested.readNested(context, nesting, request),
            one(`Read one of the ${name}`, name),
          ),
          PUT: operation('edit', (request) => nested.replaceNested(context, nesting, request), replace(name)),
          PATCH: operation('edit', (request) => nested.updateNested(context, nesting, request), update(name)),
          DELETE: operation('edit', (request) => nested.deleteNested(context, nesting, request), remove(name)),
        },
      },
    ];
  });
}

/** Reads the caller may make of any entity, and writes whose rows `commit` checks. */
function operation(
  access: Access,
  handle: (request: AdminRequest) => Promise<Answer>,
  notes: OperationNotes,
): Operation {
  return { access, handle, notes };
}

export function list(entity: string): OperationNotes {
  return { summary: `List ${entity}`, answer: 'list', entity };
}

export function create(entity: string): OperationNotes {
  return { summary: `Create one of the ${entity}`, answer: 'entity', entity, status: 201, takesBody: true };
}

export function one(summary: string, entity: string): OperationNotes {
  return { summary, answer: 'entity', entity };
}

export function replace(entity: string): OperationNotes {
  return { summary: `Create or replace one of the ${entity}`, answer: 'entity', entity, takesBody: true };
}

export function update(entity: string): OperationNotes {
  return { summary: `Change one of the ${entity}`, answer: 'entity', entity, takesBody: true };
}

export function remove(entity: string): OperationNotes {
  return { summary: `Delete one of the ${entity}`, answer: 'none', status: 204 };
}
