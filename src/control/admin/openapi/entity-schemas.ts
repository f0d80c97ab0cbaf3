import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import { exportJsonSchema } from '../../../shared/schema/export/export-json-schema.ts';
import { adminUserSchemas } from './admin-user-schemas.ts';
import { apiSchemas } from './api-schemas.ts';
import { effectivePluginsSchema, explainedAnswerSchema, explainRequestSchema } from './explain-schemas.ts';
import type { JsonObject } from './json-object.ts';
import { nodeListProperties, nodeSchema } from './node-schemas.ts';
import { overviewSchema } from './overview-schema.ts';
import { auditSchema, configVersionSchema, rangeProperties, summarySchema, usageSchema } from './report-schemas.ts';
import { searchSchema } from './search-schema.ts';
import { pluginCostsSchema, trafficListProperties, trafficSchema } from './traffic-schemas.ts';
import { whatIfRequestSchema, whatIfSchema } from './what-if-schemas.ts';

/** For each entity: its schema, the schema of a PATCH, and that of a page of its list. */
export function entitySchemas(entities: readonly EntityDefinition[]): JsonObject {
  const schemas: Record<string, JsonObject> = {
    tags: tagSchema,
    tags_list: listOf('tags'),
    audit_records: auditSchema,
    audit_records_list: listOf('audit_records'),
    config_versions: configVersionSchema,
    config_versions_list: listOf('config_versions'),
    nodes: nodeSchema,
    nodes_report: { type: 'object', required: ['data', 'next'], properties: nodeListProperties },
    overview: overviewSchema,
    effective_plugins: effectivePluginsSchema,
    explain_request: explainRequestSchema,
    explained_answer: explainedAnswerSchema,
    search_results: searchSchema,
    traffic_records: trafficSchema,
    traffic_records_list: listOf('traffic_records', trafficListProperties),
    plugin_costs: pluginCostsSchema,
    what_if: whatIfSchema,
    what_if_request: whatIfRequestSchema,
    usage: usageSchema,
    usage_list: listOf('usage', rangeProperties),
    usage_summary: summarySchema,
    ...apiSchemas,
  };
  const unique = new Map(entities.map((entity) => [entity.name, entity.unique]));
  for (const { name, schema } of entities) {
    const { required, ...change } = exportJsonSchema(schema, (entity) => unique.get(entity) ?? []);
    schemas[name] = required === undefined ? change : { ...change, required };
    schemas[`${name}_change`] = change;
    schemas[`${name}_list`] = listOf(name);
  }
  const { admin_users: users } = schemas;
  if (users === undefined) return schemas;
  return { ...schemas, ...adminUserSchemas(users), issued_admin_token_list: listOf('issued_admin_token') };
}

const tagSchema: JsonObject = {
  type: 'object',
  required: ['entity_name', 'entity_id', 'tag'],
  properties: {
    entity_name: { type: 'string', description: 'Schema name of the tagged entity.' },
    entity_id: { type: 'string', format: 'uuid' },
    tag: { type: 'string' },
  },
};

function listOf(name: string, more: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    required: ['data', 'next', 'nextCursor'],
    properties: {
      data: { type: 'array', items: { $ref: `#/components/schemas/${name}` } },
      next: { type: ['string', 'null'], description: 'Path of the next page; null on the last page.' },
      offset: { type: 'string', description: 'For `offset` of the next call; absent on the last page.' },
      nextCursor: {
        type: ['string', 'null'],
        description: 'Marks the last item of this page, for `cursor` of the next call; null on the last page.',
      },
      ...more,
    },
  };
}
