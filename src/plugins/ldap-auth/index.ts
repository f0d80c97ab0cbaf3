import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authenticateByLdap } from './handler.ts';

export default definePlugin({
  name: 'ldap-auth',
  version: '1.0.0',
  priority: 1200,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  needs: { secrets: { headers: ['proxy-authorization'] } },
  setup: authenticateByLdap,
});
