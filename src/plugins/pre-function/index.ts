import { type FunctionConfig, functionNeeds } from '../../plugin-kit/functions/index.ts';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { runPreFunctions } from './handler.ts';

export default definePlugin({
  name: 'pre-function',
  version: '1.0.0',
  priority: 1000000,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: (config: FunctionConfig) => functionNeeds(config),
  setup: runPreFunctions,
});
