import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';

/** Accepts any identity that the client claims, for tests of later plugins. */
export default definePlugin({
  name: 'name-consumer',
  version: '1.0.0',
  priority: 1999,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: (_, { entities }) => ({
    async access(context) {
      const consumer = await entities.consumer(context.request.header('x-test-consumer') ?? '');
      if (consumer !== null) context.authenticate(consumer, { id: consumer.id, identifier: null });
      return undefined;
    },
  }),
});
