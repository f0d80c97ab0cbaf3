import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authenticateByToken } from './handler.ts';
import type { JwtConfig } from './schema.ts';

export default definePlugin<JwtConfig>({
  name: 'jwt',
  version: '1.0.0',
  priority: 1450,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: ({ uri_param_names: queryArguments, header_names: headers, cookie_names: cookies }) => ({
    secrets: {
      queryArguments: queryArguments ?? [],
      headers: [...(headers ?? []), ...(cookies?.length ? ['cookie'] : [])],
    },
  }),
  setup: authenticateByToken,
});
