import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Graceful: requests in flight are answered first. */
export type CloseApp = (graceful: boolean) => Promise<void>;

/** Milliseconds between two looks for connections that have become idle while the server closes. */
const idleInterval = 50;

/** Follows the app's connections, since only HTTP/1.1 servers can end all of theirs by themselves. Returns how to close it. */
export function followConnections(app: FastifyInstance): CloseApp {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async (graceful) => {
    const closed = app.close();
    if (!graceful) for (const socket of sockets) socket.destroy();
    // Node closes those that are idle now, but not those that become so when they have been answered.
    const sweep = setInterval(() => closeIdle(app), idleInterval);
    await closed.finally(() => clearInterval(sweep));
  };
}

/** HTTP/2 servers see to it by themselves. */
function closeIdle({ server }: FastifyInstance): void {
  if ('closeIdleConnections' in server) server.closeIdleConnections();
}
