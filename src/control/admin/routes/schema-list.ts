import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import type { PluginCatalog } from '../../../shared/entities/plugin-catalog.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import { type AdminRoute, ok } from '../http/admin-route.ts';

/** `GET /schemas`: which entities and plugins there are, where the entities are, and how they refer to each other. For generated forms. */
export function schemaListRoute({ entities }: AdminContext, catalog: PluginCatalog): AdminRoute {
  return {
    path: '/schemas',
    tag: 'schemas',
    operations: {
      GET: {
        access: 'read',
        handle: () =>
          ok({
            entities: entities.definitions.filter(isReachable).map(describeEntity),
            plugins: catalog.names().map((name) => describePlugin(catalog, name)),
          }),
        notes: {
          summary: 'The entities and plugins that have a schema, and how entities refer to each other',
          answer: 'object',
        },
      },
    },
  };
}

/** Messages between nodes have no path. */
function isReachable(definition: EntityDefinition): boolean {
  return pathOf(definition) !== null || definition.nestedUnder.length > 0;
}

/** The paths of admin users are not generated. */
function pathOf({ name, path }: EntityDefinition): string | null {
  return name === 'admin_users' ? 'admin-users' : path;
}

function describeEntity(definition: EntityDefinition): unknown {
  const { name, endpointKey, foreign, nestedUnder, inConfig, schema } = definition;
  const path = pathOf(definition);
  return {
    name,
    path: path === null ? null : `/${path}`,
    endpoint_key: endpointKey,
    in_config: inConfig,
    tags: schema.fields.has('tags'),
    references: Object.entries(foreign).map(([field, { entity, onDelete }]) => ({
      field,
      entity,
      on_delete: onDelete,
    })),
    nested_under: nestedUnder.map(({ entity, field, path: segment }) => ({ entity, field, path: segment })),
  };
}

function describePlugin(catalog: PluginCatalog, name: string): unknown {
  const plugin = catalog.describe(name);
  return { name, scopes: plugin?.scopes ?? [], protocols: plugin?.protocols ?? [] };
}
