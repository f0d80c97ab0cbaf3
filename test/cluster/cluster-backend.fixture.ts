import { WebSocketServer } from 'ws';
import { startBackend, type TestBackend } from '../support/backend.ts';

/** Sends an event every 50 ms at a path that ends with `/events`, echoes WebSockets, and answers everything else with its path. */
export async function startClusterBackend(): Promise<TestBackend> {
  const backend = await startBackend({
    handler(request, response) {
      request.resume();
      if (!request.url?.endsWith('/events')) {
        response.end(request.url);
        return;
      }
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      let serial = 0;
      const send = (): boolean => response.write(`data: ${++serial}\n\n`);
      send();
      const timer = setInterval(send, 50);
      response.on('close', () => clearInterval(timer));
    },
  });
  const sockets = new WebSocketServer({ server: backend.server });
  sockets.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.on('message', (data) => socket.send(data));
  });
  return backend;
}
