import { array } from '../schema/collections.ts';
import { integer, string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import type { PluginCatalog, PluginDescription } from './plugin-catalog.ts';
import { createEntityRegistry, type EntityRegistry } from './registry.ts';

/** A plugin with a nested record and a deprecated alias, like those that keep counters in Redis. */
const limiter: PluginDescription = {
  config: record(
    {
      minute: integer({ gt: 0 }),
      policy: string({ required: true, default: 'local', one_of: ['local', 'redis'] }),
      redis: record({ host: string(), port: integer({ default: 6379, between: [0, 65535] }) }),
    },
    { shorthands: { redis_host: { field: string(), replacedWith: ['redis', 'host'] } } },
  ),
  protocols: ['grpc', 'grpcs', 'http', 'https'],
  defaultProtocols: ['grpc', 'grpcs', 'http', 'https'],
  scopes: ['consumer', 'route', 'service'],
};

/** A plugin that cannot belong to a consumer, with a rule over its whole row. */
const code: PluginDescription = {
  config: record({
    access: array(string(), { required: true, default: [] }),
    log: array(string(), { required: true, default: [] }),
  }),
  protocols: ['http', 'https', 'tcp'],
  defaultProtocols: ['http', 'https'],
  scopes: ['route', 'service'],
  checks: [{ at_least_one_of: ['config.access', 'config.log'] }],
};

const plugins: ReadonlyMap<string, PluginDescription> = new Map([
  ['limiter', limiter],
  ['code', code],
]);

const catalog: PluginCatalog = {
  names: () => [...plugins.keys()],
  describe: (name) => plugins.get(name) ?? null,
};

/** The entities with two small plugins, for the tests of this folder. */
export function testRegistry(): EntityRegistry {
  return createEntityRegistry(catalog);
}
