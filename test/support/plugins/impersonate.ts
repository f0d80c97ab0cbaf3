import { definePlugin, httpProtocols, type PluginPhases, type PluginTools, refuse } from 'sluicegate/plugin-sdk';

/** For tests: authenticates the consumer that the header `As` names, without any proof; 401 without the header. */
export default definePlugin({
  name: 'impersonate',
  version: '1.0.0',
  priority: 1234,
  protocols: httpProtocols,
  schema: () => import('./empty-schema.ts'),
  setup: impersonate,
});

function impersonate(_config: unknown, tools: PluginTools): PluginPhases {
  return {
    async access(context) {
      const name = context.request.header('as');
      const consumer = name === null ? null : await tools.entities.consumer(name);
      if (consumer === null) return refuse(401, 'Unauthorized');
      context.authenticate(consumer, { id: null, identifier: consumer.username });
      return undefined;
    },
  };
}
