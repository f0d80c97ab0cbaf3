import type { EntityDefinition } from '../../shared/entities/entity.ts';
import { ReferenceCache } from '../apis/reference/reference-cache.ts';
import { databaseConfigRoutes } from './config/config-routes.ts';
import type { AdminDependencies, AdminOptions } from './contract.ts';
import { type AdminContext, createAdminContext } from './crud/admin-context.ts';
import { entityRoutes } from './crud/entity-routes.ts';
import { configRoutes, withoutChanges } from './db-less/config-routes.ts';
import { explainRefusals, refusingContext } from './db-less/refused-writes.ts';
import type { AdminRoute, Method, Operation } from './http/admin-route.ts';
import { adminUserRoutes } from './routes/admin-users/admin-user-routes.ts';
import { analyticsRoutes } from './routes/analytics/analytics-routes.ts';
import { apiRoutes, apisList } from './routes/apis/api-routes.ts';
import { auditRoutes } from './routes/audit.ts';
import { caCertificateExtras } from './routes/ca-certificates.ts';
import { certificateExtras, certificateRead, certificateReplace } from './routes/certificates.ts';
import { consumersList } from './routes/consumers.ts';
import { dataPlaneRoutes } from './routes/data-planes.ts';
import { dnsStatusRoute } from './routes/dns-status.ts';
import { effectivePluginsRoutes } from './routes/effective-plugins/effective-plugins-routes.ts';
import { endpointsRoute } from './routes/endpoints.ts';
import { explainRoutes } from './routes/explain/explain-routes.ts';
import { logLevelRoutes } from './routes/log-level.ts';
import { metricsRoute } from './routes/metrics.ts';
import { nodeInfoRoute } from './routes/node-info.ts';
import { nodeRoutes } from './routes/nodes.ts';
import { openApiRoute } from './routes/openapi.ts';
import { overviewRoutes } from './routes/overview/overview-routes.ts';
import { pluginAdminRoutes } from './routes/plugin-admin-routes.ts';
import { pluginDocsRoute } from './routes/plugin-docs.ts';
import { pluginReloadRoute } from './routes/plugin-reload.ts';
import { pluginExtras, pluginRoutes } from './routes/plugins.ts';
import { schemaRoutes } from './routes/schemas.ts';
import { searchRoute } from './routes/search/search-routes.ts';
import { staticResponseRoutes } from './routes/static-responses.ts';
import { readyRoute, statusRoute } from './routes/status.ts';
import { tagRoutes } from './routes/tags.ts';
import { trafficRoutes } from './routes/traffic/traffic-routes.ts';
import { readTargetRoutes, targetRoutes } from './routes/upstreams/targets.ts';
import { readHealthRoute, upstreamHealthRoutes } from './routes/upstreams/upstream-health.ts';
import { whatIfRoutes } from './what-if/what-if-routes.ts';

/** The route table of the Admin API: the routes of all entities, their exceptions, and routes without an entity. */
export function adminRoutes(deps: AdminDependencies, options: AdminOptions): readonly AdminRoute[] {
  const context = contextOf(deps, options);
  const writes = deps.declarative === null ? context : refusingContext(context);
  /** State, such as sessions and tokens, is written without a database, too. */
  const contextFor = ({ inConfig }: EntityDefinition): AdminContext => (inConfig ? writes : context);
  const entities = routesOfEntities(context, contextFor, writes);
  const importing = apiRoutes(context, writes, new ReferenceCache());
  const wholeConfig = databaseConfigRoutes(deps, options, context);
  const routes: AdminRoute[] = [
    nodeInfoRoute(context, deps, options),
    statusRoute(deps),
    dnsStatusRoute(deps),
    ...nodeRoutes(deps),
    metricsRoute(deps),
    endpointsRoute(() => routes),
    openApiRoute(() => ({ routes, entities: options.entities.definitions, version: deps.node.version })),
    ...schemaRoutes(context, options.catalog),
    pluginDocsRoute(options.plugins),
    ...pluginRoutes(options.catalog),
    pluginReloadRoute(deps),
    ...tagRoutes(context),
    searchRoute(context),
    ...auditRoutes(deps.store, options.entities),
    ...adminUserRoutes(context, deps),
    ...analyticsRoutes(deps),
    ...(deps.declarative === null ? importing : importing.map((route) => explainRefusals(context, route))),
    ...overviewRoutes(deps),
    ...trafficRoutes(deps),
    ...explainRoutes(deps),
    ...whatIfRoutes(deps, options, { context, routesOver: (scratch) => triedRoutes(deps, scratch) }),
    ...logLevelRoutes(options, deps.declarative === null),
    ...configRoutes(deps, options),
    ...(deps.declarative === null ? wholeConfig : withoutChanges(wholeConfig)),
    ...upstreamHealthRoutes(context, deps),
    ...effectivePluginsRoutes(context, options, deps.publisher),
    ...dataPlaneRoutes(deps),
    ...staticResponseRoutes(),
    ...pluginAdminRoutes(context, deps.settings, options),
    ...(deps.declarative === null ? entities : entities.map((route) => explainRefusals(context, route))),
  ];
  return routes;
}

/** The routes of the status API, all of them read-only: the node, and the health of upstreams. */
export function statusRoutes(deps: AdminDependencies, options: AdminOptions): readonly AdminRoute[] {
  const context = contextOf(deps, options);
  return [
    statusRoute(deps),
    readyRoute(deps),
    dnsStatusRoute(deps),
    metricsRoute(deps),
    readHealthRoute(context, deps),
    ...readTargetRoutes(context),
  ];
}

function contextOf({ store, publisher, settings }: AdminDependencies, { entities }: AdminOptions): AdminContext {
  return createAdminContext({
    store,
    publisher,
    entities,
    hashKeys: settings.hashKeys,
    extras: {
      certificates: certificateExtras,
      ca_certificates: () => caCertificateExtras,
      plugins: () => pluginExtras,
    },
  });
}

function routesOfEntities(
  context: AdminContext,
  contextFor: (definition: EntityDefinition) => AdminContext,
  writes: AdminContext,
): readonly AdminRoute[] {
  return replacing(entityRoutes(context, contextFor), targetRoutes(writes)).map((route) =>
    withExceptions(writes, route),
  );
}

/** The routes of all entities over a context that keeps nothing. Without a database they refuse what they always refuse. */
function triedRoutes({ declarative }: AdminDependencies, scratch: AdminContext): readonly AdminRoute[] {
  if (declarative === null) return routesOfEntities(scratch, () => scratch, scratch);
  const refusing = refusingContext(scratch);
  return routesOfEntities(refusing, () => refusing, refusing).map((route) => explainRefusals(refusing, route));
}

/** Paths that an entity implements itself. */
function replacing(general: readonly AdminRoute[], own: readonly AdminRoute[]): readonly AdminRoute[] {
  const paths = new Set(own.map(({ path }) => path));
  return [...general.filter(({ path }) => !paths.has(path)), ...own];
}

/** Single methods that an entity implements itself. */
function withExceptions(context: AdminContext, route: AdminRoute): AdminRoute {
  const changed = exceptions(context)[route.path];
  return changed === undefined ? route : { ...route, operations: { ...route.operations, ...changed } };
}

function exceptions(context: AdminContext): Readonly<Record<string, Partial<Record<Method, Operation>>>> {
  return {
    '/consumers': { GET: consumersList(context) },
    '/apis': { GET: apisList(context) },
    '/certificates/{certificates}': { GET: certificateRead(context), PUT: certificateReplace(context) },
  };
}
