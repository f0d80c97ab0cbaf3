import { adminTokens, adminUsers } from './admin-users.ts';
import { apis } from './apis.ts';
import { caCertificates } from './ca-certificates.ts';
import { certificates } from './certificates.ts';
import { consumers } from './consumers.ts';
import type { EntityDefinition } from './entity.ts';
import { healthMarks } from './health-marks.ts';
import { nodeMessages } from './node-messages.ts';
import type { PluginCatalog } from './plugin-catalog.ts';
import { definePluginsEntity } from './plugins.ts';
import { revokedSessions } from './revoked-sessions.ts';
import { routes } from './routes.ts';
import { services } from './services.ts';
import { snis } from './snis.ts';
import { targets } from './targets.ts';
import { upstreams } from './upstreams.ts';

/** All entities of a running gateway. */
export interface EntityRegistry {
  /** Parents come before the entities that refer to them. */
  readonly definitions: readonly EntityDefinition[];
  /** By schema name: `ca_certificates`. */
  byName(name: string): EntityDefinition | undefined;
  /** By the first path segment of the collection. */
  byPath(path: string): EntityDefinition | undefined;
}

/** `more` are entities of plugins. */
export function createEntityRegistry(catalog: PluginCatalog, more: readonly EntityDefinition[] = []): EntityRegistry {
  const definitions: readonly EntityDefinition[] = [
    certificates,
    caCertificates,
    consumers,
    upstreams,
    services,
    snis,
    targets,
    routes,
    definePluginsEntity(catalog),
    apis,
    healthMarks,
    nodeMessages,
    revokedSessions,
    adminUsers,
    adminTokens,
    ...more,
  ];
  const names = new Map(definitions.map((definition) => [definition.name, definition]));
  const paths = new Map(definitions.map((definition) => [definition.path, definition]));
  return {
    definitions,
    byName: (name) => names.get(name),
    byPath: (path) => paths.get(path),
  };
}
