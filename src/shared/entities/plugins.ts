import { z } from 'zod';
import { autoId, createdAt, entityName, PROTOCOLS, protocols, tags, updatedAt } from '../schema/common-fields.ts';
import type { Field } from '../schema/field-meta.ts';
import { boolean, type RecordSchema, string } from '../schema/fields.ts';
import { extendRecord, foreign, record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';
import type { EntityDefinition } from './entity.ts';
import type { PluginCatalog, PluginDescription } from './plugin-catalog.ts';

const DEFAULT_PROTOCOLS = ['grpc', 'grpcs', 'http', 'https'];

/** The `plugins` entity for these installed plugins. */
export function definePluginsEntity(catalog: PluginCatalog): EntityDefinition {
  const base = baseSchema(catalog);
  const schemas = new WeakMap<PluginDescription, RecordSchema>();

  function schemaFor(value: Readonly<Record<string, unknown>>): RecordSchema {
    const { name } = value;
    if (typeof name !== 'string') return base;
    const plugin = catalog.describe(name);
    if (plugin === null) return base;
    const known = schemas.get(plugin);
    if (known !== undefined) return known;
    const schema = extendRecord(base, { fields: ownFields(plugin), checks: plugin.checks ?? [] });
    schemas.set(plugin, schema);
    return schema;
  }

  return defineEntity({
    name: 'plugins',
    path: 'plugins',
    endpointKey: 'instance_name',
    schema: base,
    schemaFor,
    uniqueTogether: [['name', 'route', 'service', 'consumer']],
    nestedUnder: [
      { entity: 'services', field: 'service', path: 'plugins' },
      { entity: 'routes', field: 'route', path: 'plugins' },
      { entity: 'consumers', field: 'consumer', path: 'plugins' },
    ],
  });
}

/** A plugin's own fields, as `/schemas/plugins/{name}` returns them. */
export function pluginSchema(plugin: PluginDescription): RecordSchema {
  return record(ownFields(plugin), { checks: plugin.checks ?? [] }) as RecordSchema;
}

/** A message when an instance's protocols fit none of the routes that it is attached to, else null. */
export function protocolProblem(
  pluginProtocols: readonly string[],
  scope: 'route' | 'service',
  routes: readonly { readonly protocols: readonly string[] }[],
): string | null {
  if (routes.length === 0) return null;
  if (routes.some((route) => route.protocols.some((protocol) => pluginProtocols.includes(protocol)))) return null;
  return scope === 'route'
    ? "must match the associated route's protocols"
    : "must match the protocols of at least one route pointing to this Plugin's service";
}

function baseSchema(catalog: PluginCatalog): RecordSchema {
  const installed = (name: string) =>
    catalog.describe(name) === null
      ? `plugin '${name}' not enabled; add it to the 'plugins' configuration property`
      : null;
  return record({
    id: autoId(),
    name: string({ required: true, custom: installed, description: 'Name of the plugin.' }),
    created_at: createdAt(),
    updated_at: updatedAt(),
    route: scopeField('routes'),
    service: scopeField('services'),
    consumer: scopeField('consumers'),
    config: anyConfig(),
    protocols: protocols(PROTOCOLS, DEFAULT_PROTOCOLS),
    enabled: boolean({
      required: true,
      default: true,
      refuses_null: true,
      description: 'A disabled instance never runs.',
    }),
    tags: tags(),
    instance_name: entityName({ description: 'Unique name of this instance.' }),
  }) as RecordSchema;
}

function ownFields({ config, protocols: allowed, defaultProtocols, scopes }: PluginDescription): Record<string, Field> {
  const forbidden: Record<string, Field> = {};
  if (!scopes.includes('consumer')) forbidden['consumer'] = scopeField('consumers', null);
  if (!scopes.includes('route')) forbidden['route'] = scopeField('routes', null);
  if (!scopes.includes('service')) forbidden['service'] = scopeField('services', null);
  return { ...forbidden, protocols: protocols(allowed, defaultProtocols), config };
}

function scopeField(entity: string, eq?: null): Field {
  const description = `Limits the instance to one of the ${entity}.`;
  return foreign(entity, { on_delete: 'cascade', description, ...(eq === null && { eq }) }) as Field;
}

/** Replaces a plugin's configuration while the plugin is unknown. */
function anyConfig(): RecordSchema {
  const empty = record({}, { description: 'Configuration of the plugin, by its own schema.' }) as RecordSchema;
  const value = z.record(z.string(), z.unknown(), { error: 'expected a record' });
  return {
    ...empty,
    value: value as z.ZodType<NonNullable<unknown>>,
    zod: z.preprocess(emptyAsRecord, value),
  };
}

function emptyAsRecord(input: unknown): unknown {
  return Array.isArray(input) && input.length === 0 ? {} : (input ?? {});
}
