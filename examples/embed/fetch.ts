import { createGateway } from 'sluicegate';

await using gateway = await createGateway({
  config: {
    services: [
      {
        name: 'orders',
        url: process.env['BACKEND'] ?? 'http://127.0.0.1:9001',
        routes: [{ name: 'orders', paths: ['/orders'] }],
      },
    ],
  },
});

const request = new Request('http://api.example/orders/1', { method: 'POST', body: 'one' });
const response = await gateway.fetch(request, { address: '192.0.2.7' });
console.log(response.status, await response.text());
