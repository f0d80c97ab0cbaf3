import type { PluginAdminRoute, PluginAdminTools } from '../../plugin-sdk/index.ts';

export function adminRoutes(tools: PluginAdminTools): readonly PluginAdminRoute[] {
  return [
    {
      path: '/data-masking/preview',
      operations: {
        POST: {
          access: 'admin',
          summary: 'Returns a sample masked by rules; nothing is stored',
          readOnly: true,
          // Loaded by the first request: the node may have no such plugin.
          handle: async (request) => (await import('./preview.ts')).preview(request, tools),
        },
      },
    },
  ];
}
