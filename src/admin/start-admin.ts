import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';
import { expectProxyHeader } from '../listener/expect-proxy-header.ts';
import type { ListenAddress } from '../settings/settings.ts';
import { adminRoutes } from './admin-routes.ts';
import type { AdminDependencies, AdminOptions, RunningListener } from './contract.ts';
import { createAdminApp, createStatusApp } from './create-admin-app.ts';
import type { ServerOptions } from './http/create-app.ts';

/** Starts the Admin API on every address of `admin_listen`. */
export function startAdmin(deps: AdminDependencies, options: AdminOptions): Promise<RunningListener> {
  const routes = adminRoutes(deps, options);
  return listenAll(deps.settings.adminListen, options, (server) => createAdminApp(deps, options, server, routes));
}

/** Starts the status API on every address of `status_listen`. */
export function startStatus(deps: AdminDependencies, options: AdminOptions): Promise<RunningListener> {
  return listenAll(deps.settings.statusListen, options, (server) => createStatusApp(deps, options, server));
}

type CreateApp = (server: ServerOptions) => FastifyInstance;

/** One app for each address: an app listens in plain text or with TLS, never both. */
async function listenAll(
  addresses: readonly ListenAddress[],
  { tls }: AdminOptions,
  create: CreateApp,
): Promise<RunningListener> {
  const apps: FastifyInstance[] = [];
  // Kept here because only HTTP/1.1 servers can end all their connections by themselves.
  const sockets = new Set<Socket>();
  const closeWaiting: (() => void)[] = [];
  const bound: { readonly ip: string; readonly port: number; readonly ssl: boolean }[] = [];
  const close = async (graceful: boolean): Promise<void> => {
    for (const closeOne of closeWaiting) closeOne();
    await Promise.all(
      apps.map(async (app) => {
        const closed = app.close();
        if (!graceful) for (const socket of sockets) socket.destroy();
        // Node closes those that are idle now, but not those that become so when they have been answered.
        const sweep = setInterval(() => closeIdle(app), idleInterval);
        await closed.finally(() => clearInterval(sweep));
      }),
    );
  };
  try {
    for (const address of addresses) {
      if (address.ssl && tls === undefined) throw new Error(`${address.listener} needs a certificate and a key`);
      const app = create(address.ssl && tls !== undefined ? { https: { ...tls, http2: address.http2 } } : {});
      apps.push(app);
      app.server.on('connection', (socket: Socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      });
      if (address.proxyProtocol) closeWaiting.push(expectProxyHeader(app.server, proxyHeader));
      await app.listen(listenOptions(address));
      bound.push({ ip: address.ip, port: portOf(app, address), ssl: address.ssl });
    }
  } catch (error) {
    await close(false);
    throw error;
  }
  return { addresses: bound, close };
}

/** Milliseconds between two looks for connections that have become idle while the server closes. */
const idleInterval = 50;

/** HTTP/2 servers see to it by themselves. */
function closeIdle({ server }: FastifyInstance): void {
  if ('closeIdleConnections' in server) server.closeIdleConnections();
}

/** Whoever it names, the Admin API goes by the connection itself. */
const proxyHeader = { timeout: 10_000, refused: () => {} };

/** Fastify hands on to Node what it does not know itself. */
function listenOptions(address: ListenAddress): FastifyListenOptions & { reusePort: boolean } {
  return {
    host: address.ip,
    port: address.port,
    backlog: address.backlog,
    ipv6Only: address.ipv6only,
    reusePort: address.reuseport,
    listenTextResolver: () => '',
  };
}

function portOf(app: FastifyInstance, address: ListenAddress): number {
  const actual = app.server.address();
  return typeof actual === 'object' && actual !== null ? actual.port : address.port;
}
