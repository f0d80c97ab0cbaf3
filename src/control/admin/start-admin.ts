import type { TlsOptions, Server as TlsServer } from 'node:tls';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';
import { expectProxyHeader, type WaitingConnections } from '../../shared/proxy-protocol/expect-proxy-header.ts';
import type { ListenAddress, Settings } from '../../shared/settings/settings.ts';
import {
  descriptorOf,
  descriptorsFor,
  type InheritedDescriptors,
  type ListeningSocket,
  socketKey,
} from '../../shared/sockets/listening-sockets.ts';
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
  return listenAll(settings.adminListen, { settings, inherited: options.inherited, tlsOf: adminServerTls }, create);
}

/** Starts the status API on every address of `status_listen`. */
export async function startStatus(deps: AdminDependencies, options: AdminOptions): Promise<RunningListener> {
  const { settings } = deps;
  const { statusListen, headers } = settings;
  const create: CreateApp = (server) => createStatusApp(deps, options, server);
  const { readinessThread, inherited } = options;
  const listening: ListenOptions = { settings, inherited, tlsOf: statusServerTls };
  // The readiness thread reads the first bytes of a connection itself, and supports neither TLS nor the PROXY protocol.
  const threadAddresses =
    readinessThread === undefined ? [] : statusListen.filter(({ ssl, proxyProtocol }) => !ssl && !proxyProtocol);
  if (readinessThread === undefined || threadAddresses.length === 0) {
    return listenAll(statusListen, listening, create);
  }
  const rest = statusListen.filter((address) => !threadAddresses.includes(address));
  const listeners = [await listenAll(rest, listening, create)];
  try {
    const serverHeader = statusServerHeader(headers);
    const latencyHeader = headers.has('x-kong-admin-latency');
    listeners.push(
      await listenBehindReadinessThread(
        {
          ...readinessThread,
          addresses: threadAddresses,
          inherited,
          serverHeader,
          latencyHeader,
          log: options.log,
        },
        create({}),
      ),
    );
  } catch (error) {
    await listeners[0]?.close(false);
    throw error;
  }
  return {
    addresses: listeners.flatMap(({ addresses }) => addresses),
    sockets: listeners.flatMap(({ sockets }) => sockets),
    handOver: async () => {
      await Promise.all(listeners.map((listener) => listener.handOver()));
    },
    setTls: (next) => {
      for (const listener of listeners) listener.setTls(next);
    },
    close: async (graceful) => {
      await Promise.all(listeners.map((listener) => listener.close(graceful)));
    },
  };
}

type CreateApp = (server: ServerOptions) => FastifyInstance;

interface ListenOptions {
  readonly settings: Settings;
  readonly inherited: InheritedDescriptors;
  readonly tlsOf: (settings: Settings) => TlsOptions | null;
}

/** One app for each address: an app listens in plain text or with TLS, never both. */
async function listenAll(
  addresses: readonly ListenAddress[],
  { settings, inherited, tlsOf }: ListenOptions,
  create: CreateApp,
): Promise<RunningListener> {
  const tls = tlsOf(settings);
  const closeApps: CloseApp[] = [];
  const waiting: WaitingConnections[] = [];
  const sockets: ListeningSocket[] = [];
  const servers: TlsServer[] = [];
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
      const [descriptor = null] = descriptorsFor(inherited, address);
      await app.listen({ ...listenOptions(address), ...(descriptor === null ? {} : { fd: descriptor }) });
      if (address.ssl) servers.push(app.server as unknown as TlsServer);
      const port = portOf(app, address);
      bound.push({ ip: address.ip, port, ssl: address.ssl });
      const own = descriptorOf(app.server);
      if (own === null) continue;
      sockets.push({ key: socketKey({ ...address, port }), descriptor: own, reuseport: address.reuseport });
    }
  } catch (error) {
    await close(false);
    throw error;
  }
  const setTls = (next: Settings): void => {
    const context = tlsOf(next);
    if (context !== null) for (const server of servers) server.setSecureContext(context);
  };
  return { addresses: bound, sockets, close, handOver: () => close(true), setTls };
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
