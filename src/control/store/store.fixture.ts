import { randomUUID } from 'node:crypto';
import type { EntityDefinition, Row } from '../../shared/entities/entity.ts';
import { record } from '../../shared/schema/record.ts';

/** A definition with defaults for the fields that a store test does not need. */
export function defineTestEntity(
  definition: Partial<EntityDefinition> & Pick<EntityDefinition, 'name'>,
): EntityDefinition {
  return {
    path: definition.name,
    endpointKey: null,
    schema: record({}),
    timestamps: 'seconds',
    hasUpdatedAt: true,
    unique: [],
    uniqueTogether: [],
    foreign: {},
    nestedUnder: [],
    lookups: [],
    expires: false,
    inConfig: true,
    ...definition,
  };
}

const services = defineTestEntity({ name: 'services', endpointKey: 'name', unique: ['name'] });

const routes = defineTestEntity({
  name: 'routes',
  endpointKey: 'name',
  unique: ['name'],
  foreign: { service: { entity: 'services', onDelete: 'restrict' } },
});

const consumers = defineTestEntity({ name: 'consumers', endpointKey: 'username', unique: ['username', 'custom_id'] });

const plugins = defineTestEntity({
  name: 'plugins',
  endpointKey: 'instance_name',
  unique: ['instance_name'],
  uniqueTogether: [['name', 'route', 'service', 'consumer']],
  foreign: {
    route: { entity: 'routes', onDelete: 'cascade' },
    service: { entity: 'services', onDelete: 'cascade' },
    consumer: { entity: 'consumers', onDelete: 'cascade' },
  },
});

const upstreams = defineTestEntity({ name: 'upstreams', endpointKey: 'name', unique: ['name'] });

const targets = defineTestEntity({
  name: 'targets',
  path: null,
  endpointKey: 'target',
  timestamps: 'fraction',
  uniqueTogether: [['upstream', 'target']],
  foreign: { upstream: { entity: 'upstreams', onDelete: 'cascade' } },
});

/** A credential and its dependants: two levels of cascade below a consumer. */
const tokens = defineTestEntity({
  name: 'tokens',
  endpointKey: 'key',
  hasUpdatedAt: false,
  unique: ['key'],
  foreign: { consumer: { entity: 'consumers', onDelete: 'cascade' } },
});

const grants = defineTestEntity({
  name: 'grants',
  foreign: { token: { entity: 'tokens', onDelete: 'cascade' } },
});

/** Children before parents on purpose: the store must find the order itself. */
export const testDefinitions: readonly EntityDefinition[] = [
  grants,
  plugins,
  routes,
  services,
  consumers,
  targets,
  upstreams,
  tokens,
];

/** A row with a new id; its `created_at` is used only where a test keeps it. */
export function testRow(fields: Readonly<Record<string, unknown>> = {}): Row {
  return { id: randomUUID(), created_at: 0, ...fields };
}
