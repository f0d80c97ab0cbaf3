import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { restrictByIp } from './handler.ts';

export default definePlugin({
  name: 'ip-restriction',
  version: '1.0.0',
  priority: 990,
  protocols: allProtocols,
  defaultProtocols: ['http', 'https', 'tcp', 'tls', 'grpc', 'grpcs'],
  schema: () => import('./schema.ts'),
  setup: restrictByIp,
});
