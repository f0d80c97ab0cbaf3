import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { chooseVersions } from './handler.ts';
import type { ApiVersioningConfig } from './schema.ts';
import { usageZone } from './usage.ts';

export default definePlugin({
  name: 'api-versioning',
  version: '1.0.0',
  priority: 820,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  adminRoutes: () => import('./admin.ts'),
  zones: (config: ApiVersioningConfig, instanceId) => {
    const zone = usageZone(config, instanceId);
    return zone === null ? [] : [zone];
  },
  setup: chooseVersions,
});
