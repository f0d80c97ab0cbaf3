import type { ListenAddress } from '../../shared/settings/settings.ts';
import { createAuthenticator } from './access/authenticator.ts';
import { adminRoutes } from './admin-routes.ts';
import type { AdminDependencies, AdminOptions, RunningListener } from './contract.ts';
import { type AdminAppParts, createAdminApp, createStatusApp, statusServerHeader } from './create-admin-app.ts';
import { type CreateApp, type ListenOptions, listenAll } from './http/listen-all.ts';
import { adminServerTls, dashboardServerTls, statusServerTls } from './http/server-tls.ts';
import { listenBehindReadinessThread } from './readiness-thread/listen-behind-readiness-thread.ts';

/** What the apps of all addresses share, those of the dashboard too. */
export function createAdminParts(deps: AdminDependencies, options: AdminOptions): AdminAppParts {
  return {
    routes: adminRoutes(deps, options),
    authenticator: createAuthenticator({ settings: () => deps.settings, store: deps.store, log: options.log }),
  };
}

/** Starts the Admin API on every address of `admin_listen`. */
export function startAdmin(
  deps: AdminDependencies,
  options: AdminOptions,
  parts: AdminAppParts = createAdminParts(deps, options),
): Promise<RunningListener> {
  const { settings } = deps;
  const create: CreateApp = (server) => createAdminApp(deps, options, server, parts);
  return listenAll(settings.adminListen, { settings, inherited: options.inherited, tlsOf: adminServerTls }, create);
}

/** Starts the dashboard on every address of `admin_gui_listen`. `folder`: where its built files are. */
export async function startDashboard(
  deps: AdminDependencies,
  options: AdminOptions,
  parts: AdminAppParts = createAdminParts(deps, options),
  folder?: string,
): Promise<RunningListener> {
  const { settings } = deps;
  const { adminGuiListen, adminGuiPath } = settings;
  const { createDashboardFront } = await import('../dashboard/dashboard-front.ts');
  const front = createDashboardFront({
    path: adminGuiPath,
    log: options.log,
    ...(folder === undefined ? {} : { folder }),
  });
  const create: CreateApp = (server) => createAdminApp(deps, options, { ...server, front }, parts);
  const unavailable = ({ ip, port }: ListenAddress, error: unknown): void =>
    options.log.warn(
      `cannot listen on ${ip}:${port}; starting without the dashboard. Set admin_gui_listen to another address, or to off`,
      {
        error: (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'address already in use' : String(error),
      },
    );
  const listening = { settings, inherited: options.inherited, tlsOf: dashboardServerTls, unavailable };
  return listenAll(adminGuiListen, listening, create);
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
