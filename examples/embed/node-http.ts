import { createServer } from 'node:http';
import { createGateway } from 'sluicegate';

const gateway = await createGateway({
  config: {
    services: [
      {
        name: 'chat',
        url: process.env['BACKEND'] ?? 'http://127.0.0.1:9001',
        routes: [{ name: 'chat', paths: ['/chat'] }],
      },
    ],
  },
});

const server = createServer((request, response) => {
  if (request.url === '/health') response.end('fine\n');
  else gateway.handler(request, response);
});
server.on('upgrade', gateway.handler.upgrade);
server.listen(Number(process.env['PORT'] ?? 8000), '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/chat`);
});

process.once('SIGTERM', () => {
  server.close();
  server.closeIdleConnections();
  void gateway.close();
});
