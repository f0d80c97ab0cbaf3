import { defineConfig, type GatewayConfig } from 'sluicegate';

const backend = process.env['BACKEND'] ?? 'http://127.0.0.1:9001';
const teams = ['orders', 'invoices'];

export default defineConfig(
  (): GatewayConfig => ({
    services: teams.map((name) => ({
      name,
      url: backend,
      routes: [{ name, paths: [`/${name}`] }],
      plugins: [{ name: 'rate-limiting', config: { minute: 600, policy: 'local' } }],
    })),
    plugins: [{ name: 'correlation-id', config: { echo_downstream: true } }],
  }),
);
