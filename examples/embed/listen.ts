import { createGateway, defineConfig } from 'sluicegate';

const backend = process.env['BACKEND'] ?? 'http://127.0.0.1:9001';
const config = (perMinute: number) =>
  defineConfig({
    services: [
      {
        name: 'orders',
        url: backend,
        routes: [{ name: 'orders', paths: ['/orders'] }],
        plugins: [{ name: 'rate-limiting', config: { minute: perMinute, policy: 'local' } }],
      },
    ],
  });

const gateway = await createGateway({ config: config(60) });
const { host, port } = await gateway.listen({ port: Number(process.env['PORT'] ?? 8000) });
console.log(`http://${host}:${port}/orders`);

// A new config, without a dropped request.
await gateway.apply(config(120));

process.once('SIGTERM', () => void gateway.close());
