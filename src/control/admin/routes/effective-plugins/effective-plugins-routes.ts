import { foreignId, text } from '../../../../shared/entities/row-fields.ts';
import type { AdminOptions, ConfigPublisher } from '../../contract.ts';
import type { AdminContext } from '../../crud/admin-context.ts';
import { segmentOf } from '../../crud/entity-handlers.ts';
import { needEntity } from '../../crud/find-entity.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../../http/admin-route.ts';
import { plainError } from '../../http/http-error.ts';
import { effectivePlugins, type Instance } from './effective-plugins.ts';

/** `GET /routes/{route}/effective-plugins`: which plugin instances run for a route, and for a consumer. */
export function effectivePluginsRoutes(
  context: AdminContext,
  options: Pick<AdminOptions, 'catalog' | 'plugins'>,
  publisher: ConfigPublisher,
): readonly AdminRoute[] {
  return [
    {
      path: '/routes/{routes}/effective-plugins',
      tag: 'routes',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => show(context, options, publisher, request),
          notes: {
            summary: 'The plugin instances that run for requests of the route, in their order, and those that do not',
            answer: 'entity',
            entity: 'effective_plugins',
            queryParameters: [
              { name: 'consumer', description: 'Id or username. Default: the client is nobody in particular.' },
              {
                name: 'authenticated_by',
                description: 'Name of the plugin that identifies the consumer. Default: the first that can.',
              },
            ],
          },
        },
      },
    },
  ];
}

async function show(
  context: AdminContext,
  { catalog, plugins }: Pick<AdminOptions, 'catalog' | 'plugins'>,
  publisher: ConfigPublisher,
  request: AdminRequest,
): Promise<Answer> {
  const { store: reader } = context;
  const routes = context.entity('routes');
  const route = await needEntity(context, reader, routes, segmentOf(request, routes));
  const named = request.query.first('consumer') ?? '';
  const consumer = named === '' ? null : await needEntity(context, reader, context.entity('consumers'), named);
  const serviceId = foreignId(route, 'service');
  const service = serviceId === null ? null : await reader.get('services', serviceId);
  const wanted = request.query.first('authenticated_by') ?? '';
  const found = await effectivePlugins({
    reader,
    route,
    consumerId: consumer?.id ?? null,
    authenticatedBy: wanted === '' ? null : wanted,
    priorityOf: (name) => plugins.get(name)?.priority ?? null,
    // Only plugins that identify the client have a consumer for those that they cannot identify; auth-any leaves it to others.
    authenticates: (name) => name !== 'auth-any' && hasField(catalog, name, 'anonymous'),
    failureOf: (id) => publisher.failures.get(`plugins:${id}`),
  });
  if (wanted !== '' && consumer !== null && found.authenticatedBy === null)
    throw plainError(400, `authenticated_by: no instance of the plugin '${wanted.slice(0, 100)}' runs for this route`);
  return ok({
    route: { id: route.id, name: text(route, 'name') },
    service: service === null ? null : { id: service.id, name: text(service, 'name') },
    consumer: consumer === null ? null : { id: consumer.id, username: text(consumer, 'username') },
    authenticated_by: found.authenticatedBy,
    authenticators: found.authenticators,
    data: found.running.map(shown),
    shadowed: found.shadowed.map(({ instance, by, because }) => ({ ...shown(instance), by, because })),
  });
}

function hasField(catalog: AdminOptions['catalog'], plugin: string, field: string): boolean {
  return catalog.describe(plugin)?.config.fields.has(field) === true;
}

function shown({ id, name, label, priority, routeId, serviceId, consumerId, error }: Instance) {
  const scope = [
    ...(routeId === null ? [] : ['route']),
    ...(serviceId === null ? [] : ['service']),
    ...(consumerId === null ? [] : ['consumer']),
  ];
  return { id, name, instance_name: label, scope: scope.length === 0 ? ['global'] : scope, priority, error };
}
