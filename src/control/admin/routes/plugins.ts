import type { Row } from '../../../shared/entities/entity.ts';
import type { PluginCatalog } from '../../../shared/entities/plugin-catalog.ts';
import { protocolProblem } from '../../../shared/entities/plugins.ts';
import { exportSchema } from '../../../shared/schema/export/export.ts';
import type { StoreReader } from '../../store/store.ts';
import type { EntityExtras } from '../crud/admin-context.ts';
import { referenceOf } from '../crud/find-entity.ts';
import { invalidInput } from '../errors.ts';
import { type AdminRoute, ok } from '../http/admin-route.ts';
import { plainError } from '../http/http-error.ts';
import { iterateRows } from '../lists/iterate-rows.ts';

/** `/plugins/enabled` and the old `/plugins/schema/{name}`. */
export function pluginRoutes(catalog: PluginCatalog): readonly AdminRoute[] {
  return [
    {
      path: '/plugins/enabled',
      tag: 'plugins',
      operations: {
        GET: {
          access: 'read',
          handle: () => ok({ enabled_plugins: catalog.names() }),
          notes: { summary: 'Names of the plugins that are loaded', answer: 'object' },
        },
      },
    },
    {
      path: '/plugins/schema/{name}',
      tag: 'plugins',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => {
            const plugin = catalog.describe(request.params['name'] ?? '');
            if (plugin === null) throw plainError(404, `No plugin named '${request.params['name']}'`);
            return ok(exportSchema(plugin.config));
          },
          notes: { summary: "Schema of a plugin's configuration", answer: 'object' },
        },
      },
    },
  ];
}

/** A plugin must support the protocols of the place where it is attached. */
export const pluginExtras: EntityExtras = {
  async check(reader, plugin) {
    const scope = referenceOf(plugin, 'route') !== null ? 'route' : 'service';
    const routes = await routesOf(reader, plugin);
    const problem = protocolProblem(protocolsOf(plugin), scope, routes);
    if (problem !== null) throw invalidInput({ protocols: problem });
  },
};

/** The routes on which the plugin is meant to run, when it is attached to a route or a service. */
async function routesOf(
  reader: StoreReader,
  plugin: Row,
): Promise<readonly { readonly protocols: readonly string[] }[]> {
  const id = referenceOf(plugin, 'route');
  if (id !== null) {
    const route = await reader.get('routes', id);
    return route === null ? [] : [{ protocols: protocolsOf(route) }];
  }
  const service = referenceOf(plugin, 'service');
  if (service === null) return [];
  const routes: { readonly protocols: readonly string[] }[] = [];
  for await (const route of iterateRows(reader, 'routes', { where: { service } })) {
    routes.push({ protocols: protocolsOf(route) });
  }
  return routes;
}

function protocolsOf(row: Row): readonly string[] {
  const { protocols } = row;
  return Array.isArray(protocols) ? protocols.filter((item) => typeof item === 'string') : [];
}
