import type { TlsOptions } from 'node:tls';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';
import { expectProxyHeader, type WaitingConnections } from '../../shared/proxy-protocol/expect-proxy-header.ts';
import type { ListenAddress } from '../../shared/settings/settings.ts';
import { createAuthenticator } from './access/authenticator.ts';
import { adminRoutes } from './admin-routes.ts';
import type { AdminDependencies, AdminOptions, RunningListener } from './contract.ts';
import { createAdminApp, createStatusApp, statusServerHeader } from './create-admin-app.ts';
import type { ServerOptions } from './http/create-app.ts';
import { adminServerTls, statusServerTls } from './http/server-tls.ts';
import { type CloseApp, trackConnections } from './http/track-connections.ts';
import { listenBehindReadinessThread } from './readiness-thread/listen-behind-readiness-thread.ts';

/** Starts the Admin API on every address of `admin_listen`. */
export function startAdmin(deps: AdminDependencies, options: AdminOptions): Promise<RunningListener> {
  const { settings, store } = deps;
  // Apps of several addresses share them.
  const shared = {
    routes: adminRoutes(deps, options),
    authenticator: createAuthenticator({ settings: () => deps.settings, store, log: options.log }),
  };
  const create: CreateApp = (server) => createAdminApp(deps, options, server, shared);
  return listenAll(settings.adminListen, adminServerTls(settings), create);
}

/** Starts the status API on every address of `status_listen`. */
export async function startStatus(deps: AdminDependencies, options: AdminOptions): Promise<RunningListener> {
  const { statusListen, headers } = deps.settings;
  const create: CreateApp = (server) => createStatusApp(deps, options, server);
  const tls = statusServerTls(deps.settings);
  const { readinessThread } = options;
  // The readiness thread reads the first bytes of a connection itself, and supports neither TLS nor the PROXY protocol.
  const threadAddresses =
    readinessThread === undefined ? [] : statusListen.filter(({ ssl, proxyProtocol }) => !ssl && !proxyProtocol);
  if (readinessThread === undefined || threadAddresses.length === 0) return listenAll(statusListen, tls, create);
  const rest = statusListen.filter((address) => !threadAddresses.includes(address));
  const listeners = [await listenAll(rest, tls, create)];
  try {
    const serverHeader = statusServerHeader(headers);
    const latencyHeader = headers.has('x-kong-admin-latency');
    listeners.push(
      await listenBehindReadinessThread(
        { ...readinessThread, addresses: threadAddresses, serverHeader, latencyHeader, log: options.log },
        create({}),
      ),
    );
  } catch (error) {
    await listeners[0]?.close(false);
    throw error;
  }
  return {
    addresses: listeners.flatMap(({ addresses }) => addresses),
    close: async (graceful) => {
      await Promise.all(listeners.map((listener) => listener.close(graceful)));
    },
  };
}

type CreateApp = (server: ServerOptions) => FastifyInstance;

/** One app for each address: an app listens in plain text or with TLS, never both. */
async function listenAll(
  addresses: readonly ListenAddress[],
  tls: TlsOptions | null,
  create: CreateApp,
): Promise<RunningListener> {
  const closeApps: CloseApp[] = [];
  const waiting: WaitingConnections[] = [];
  const bound: { readonly ip: string; readonly port: number; readonly ssl: boolean }[] = [];
  const close = async (graceful: boolean): Promise<void> => {
    for (const { close: closeWaiting } of waiting) closeWaiting();
    await Promise.all(closeApps.map((closeApp) => closeApp(graceful)));
  };
  try {
    for (const address of addresses) {
      if (address.ssl && tls === null) throw new Error(`${address.listener} needs a certificate and a key`);
      const app = create(address.ssl && tls !== null ? { https: { ...tls, http2: address.http2 } } : {});
      closeApps.push(trackConnections(app));
      if (address.proxyProtocol) waiting.push(expectProxyHeader(app.server, proxyHeader));
      await app.listen(listenOptions(address));
      bound.push({ ip: address.ip, port: portOf(app, address), ssl: address.ssl });
    }
  } catch (error) {
    await close(false);
    throw error;
  }
  return { addresses: bound, close };
}

/** The header is read and ignored: the Admin API uses the address of the connection itself. */
const proxyHeader = { timeout: 10_000, refused: () => {} };

/** Fastify passes options that it does not know to Node. */
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
