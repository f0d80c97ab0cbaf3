import { createGateway } from 'sluicegate';
import { definePlugin, httpProtocols } from 'sluicegate/plugin-sdk';
import { type Infer, record, string } from 'sluicegate/plugin-sdk/schema';

const config = record({
  greeting: string({ required: true, default: 'Hello', description: 'First word of the greeting.' }),
});
type GreetingConfig = Infer<typeof config>;

const greeting = definePlugin<GreetingConfig>({
  name: 'greeting',
  version: '1.0.0',
  priority: 500,
  protocols: httpProtocols,
  schema: { config },
  setup: ({ greeting: word }) => ({
    headerFilter: ({ response }) => response.setHeader('X-Greeting', `${word}, ${process.pid}`),
  }),
});

declare module 'sluicegate' {
  interface PluginConfigs {
    greeting: Partial<GreetingConfig>;
  }
}

const gateway = await createGateway({
  plugins: [greeting],
  config: {
    services: [
      {
        name: 'orders',
        url: process.env['BACKEND'] ?? 'http://127.0.0.1:9001',
        routes: [{ name: 'orders', paths: ['/orders'] }],
        plugins: [{ name: 'greeting', config: { greeting: 'Good day' } }],
      },
    ],
  },
});
const { port } = await gateway.listen({ port: Number(process.env['PORT'] ?? 8000) });
console.log(`http://127.0.0.1:${port}/orders`);

process.once('SIGTERM', () => void gateway.close());
