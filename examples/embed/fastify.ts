import Fastify from 'fastify';
import { createGateway } from 'sluicegate';

const gateway = await createGateway({
  config: {
    services: [
      {
        name: 'orders',
        url: process.env['BACKEND'] ?? 'http://127.0.0.1:9001',
        routes: [{ name: 'orders', paths: ['/api/orders'] }],
      },
    ],
    plugins: [{ name: 'key-auth' }],
    consumers: [{ username: 'ada', keyauth_credentials: [{ key: 'key-of-ada' }] }],
  },
});

const app = Fastify({ forceCloseConnections: 'idle' });
app.get('/health', async () => ({ fine: true }));
await app.register(async (scope) => {
  // Bodies stream through the gateway; Fastify must not read them.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  scope.all('/api/*', (request, reply) => {
    reply.hijack();
    gateway.handler(request.raw, reply.raw);
  });
});
app.addHook('onClose', () => gateway.close());
await app.listen({ port: Number(process.env['PORT'] ?? 8000), host: '127.0.0.1' });
console.log(`${app.listeningOrigin}/api/orders`);

process.once('SIGTERM', () => void app.close());
