import type { PluginAdminRoute, PluginAdminRoutes } from '../../plugin-sdk/index.ts';

/** Loaded by the first request: the node may have no cache. */
const actions = () => import('./admin-actions.ts');

export const adminRoutes: PluginAdminRoutes['adminRoutes'] = (tools): readonly PluginAdminRoute[] => [
  {
    path: '/proxy-cache',
    operations: {
      DELETE: {
        access: 'admin',
        summary: 'Removes the cached responses of all instances, or only those with a tag or a prefix.',
        status: 204,
        otherStatuses: [200, 400, 404, 503],
        queryParameters: [
          {
            name: 'tag',
            description: 'Only responses with this tag (`Surrogate-Key`, `Cache-Tag`).',
            schema: { type: 'string', minLength: 1 },
          },
          {
            name: 'prefix',
            description: 'Only responses whose URL starts with this prefix: `http://example.com/list`.',
            schema: { type: 'string', minLength: 1 },
          },
          { name: 'plugin', description: 'Only responses of the plugin instance with this id.' },
        ],
        handle: async (request) => (await actions()).purgeResponses(request, tools),
      },
    },
  },
  {
    path: '/proxy-cache/{cache_key}',
    operations: {
      GET: {
        access: 'admin',
        summary: 'Returns a cached response.',
        handle: async (request) => (await actions()).showResponse(request, tools, 'all'),
      },
      DELETE: {
        access: 'admin',
        summary: 'Removes a cached response.',
        status: 204,
        handle: async (request) => (await actions()).removeResponse(request, tools, 'all'),
      },
    },
  },
  {
    path: '/proxy-cache/{plugin_id}/caches/{cache_key}',
    operations: {
      GET: {
        access: 'admin',
        summary: 'Returns a cached response of a plugin instance.',
        handle: async (request) => (await actions()).showResponse(request, tools, 'one'),
      },
      DELETE: {
        access: 'admin',
        summary: 'Removes a cached response of a plugin instance.',
        status: 204,
        handle: async (request) => (await actions()).removeResponse(request, tools, 'one'),
      },
    },
  },
];
