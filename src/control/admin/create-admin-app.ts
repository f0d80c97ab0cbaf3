import type { FastifyInstance } from 'fastify';
import type { Authenticator } from './access/authenticator.ts';
import { statusRoutes } from './admin-routes.ts';
import { createAuditLog } from './audit/audit-log.ts';
import type { AdminDependencies, AdminOptions } from './contract.ts';
import { createHints } from './hints/hints.ts';
import type { AdminRoute } from './http/admin-route.ts';
import { createApp, type ServerOptions } from './http/create-app.ts';
import { kongVersion } from './routes/node-info.ts';

/** What the apps of several listeners share. */
export interface AdminAppParts {
  readonly routes: readonly AdminRoute[];
  readonly authenticator: Authenticator;
}

/** The whole Admin API, not yet listening. */
export function createAdminApp(
  deps: AdminDependencies,
  options: AdminOptions,
  server: ServerOptions,
  { routes, authenticator }: AdminAppParts,
): FastifyInstance {
  return createApp({
    ...common(deps, options),
    access: options.log.access,
    server,
    routes,
    authenticator,
    guiOrigins: deps.settings.adminGuiUrl,
    hosts: deps.settings.adminHosts,
    hostCheck: 'all',
  });
}

/**
 * The status API, for load balancers and monitoring. It changes nothing. Of the configuration it shows
 * only the targets of upstreams, as Kong does.
 */
export function createStatusApp(
  deps: AdminDependencies,
  options: AdminOptions,
  server: ServerOptions = {},
): FastifyInstance {
  return createApp({
    ...common(deps, options),
    access: options.log.statusAccess,
    server,
    routes: statusRoutes(deps, options),
    authenticator: null,
    guiOrigins: [],
    hosts: deps.settings.adminHosts,
    // Monitoring may use any name of the machine, and the status API is read-only.
    hostCheck: 'loopback',
  });
}

/** Clients detect the edition and version of Kong by it. */
export function statusServerHeader(headers: ReadonlySet<string>): string | null {
  return headers.has('server') ? `kong/${kongVersion}` : null;
}

function common({ settings, store }: AdminDependencies, { log, entities, catalog }: AdminOptions) {
  return {
    log,
    audit: createAuditLog({ settings, store, entities, log }),
    hints: createHints({ entities, pluginNames: catalog.names(), log }),
    serverHeader: statusServerHeader(settings.headers),
    latencyHeader: settings.headers.has('x-kong-admin-latency'),
    maxBodySize: settings.adminClientMaxBodySize,
  };
}
