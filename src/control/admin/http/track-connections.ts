import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Graceful: requests in flight are answered first. */
export type CloseApp = (graceful: boolean) => Promise<void>;

/** Milliseconds between two checks for idle connections while the server closes. */
const idleInterval = 50;

/** Tracks the app's connections, since Node can close only those that speak HTTP/1.1. Returns a function that closes the app. */
export function trackConnections(app: FastifyInstance): CloseApp {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async (graceful) => {
    const closed = app.close();
    if (!graceful) for (const socket of sockets) socket.destroy();
    // Node closes connections that are idle now, but not those that become idle after their answer.
    const sweep = setInterval(() => app.server.closeIdleConnections(), idleInterval);
    await closed.finally(() => clearInterval(sweep));
  };
}
