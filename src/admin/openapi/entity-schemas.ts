import type { EntityDefinition } from '../../entities/entity.ts';
import { exportJsonSchema } from '../../schema/export-json-schema.ts';
import type { JsonObject } from './build-openapi.ts';

/** For each entity: what it is, what a PATCH may hold, and a page of a list of it. */
export function entitySchemas(entities: readonly EntityDefinition[]): JsonObject {
  const schemas: Record<string, JsonObject> = {
    tags: tagSchema,
    tags_list: listOf('tags'),
    audit_records: auditSchema,
    audit_records_list: listOf('audit_records'),
    usage: usageSchema,
    usage_list: listOf('usage'),
  };
  for (const { name, schema } of entities) {
    const { required, ...change } = exportJsonSchema(schema);
    schemas[name] = required === undefined ? change : { ...change, required };
    schemas[`${name}_change`] = change;
    schemas[`${name}_list`] = listOf(name);
  }
  return schemas;
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

const auditSchema: JsonObject = {
  type: 'object',
  required: ['id', 'at', 'actor', 'operation', 'method', 'path', 'status', 'request_id', 'peer', 'client'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    at: { type: 'string', format: 'date-time', description: 'When: ISO 8601 in UTC, with milliseconds.' },
    actor: {
      type: 'object',
      description: 'Who: the name is stable and no secret.',
      properties: { kind: { enum: ['token', 'anonymous'] }, name: { type: 'string' } },
    },
    operation: { enum: ['create', 'update', 'delete', 'action'], description: '`action`: what is no entity.' },
    method: { type: 'string' },
    path: { type: 'string', description: 'Without the query, secrets replaced.' },
    status: { type: 'integer', description: 'Status that the success is answered with.' },
    request_id: { type: 'string' },
    peer: { type: 'string', description: "Address of the connection's other end." },
    client: { type: 'string', description: 'Address of the client, as a trusted peer tells it.' },
    entity: { type: ['string', 'null'], description: 'Schema name of what was changed.' },
    entity_id: { type: ['string', 'null'] },
    name: { type: ['string', 'null'], description: 'Its name or key, unless that is a secret.' },
    before: { type: ['object', 'null'], description: 'The changed fields as they were; null for a new entity.' },
    after: { type: ['object', 'null'], description: 'The changed fields as they are; null for a deleted entity.' },
    cascade: {
      type: 'object',
      description: 'What else was deleted with it: how many, by schema name.',
      additionalProperties: { type: 'integer' },
    },
    truncated: { type: 'boolean', description: 'Values were left out, because the record would be too long.' },
    details: { type: 'object', description: 'Of an `action`: its query, and the names of the fields of its body.' },
  },
};

const latencySchema: JsonObject = {
  type: ['object', 'null'],
  description: 'Milliseconds; null when there was none. Quantiles are off by 4 % at most.',
  properties: Object.fromEntries(['mean', 'p50', 'p90', 'p95', 'p99', 'max'].map((name) => [name, { type: 'number' }])),
};

const usageSchema: JsonObject = {
  type: 'object',
  required: ['requests', 'errors', 'bytes_in', 'bytes_out', 'latency', 'upstream_latency'],
  properties: {
    start: { type: 'string', format: 'date-time', description: 'When the minute, hour or day (UTC) began.' },
    node: { type: 'string' },
    route: { type: ['object', 'null'], description: '`id` and `name`; the id `*` stands for all without a row.' },
    service: { type: ['object', 'null'], description: '`id` and `name`.' },
    consumer: { type: ['object', 'null'], description: '`id` and `username`.' },
    version: { type: ['string', 'null'], description: 'As api-versioning names it.' },
    status: { type: ['integer', 'string'], description: 'Or `4xx` where only the first digit is known.' },
    requests: { type: 'integer' },
    errors: { type: 'object', properties: { '4xx': { type: 'integer' }, '5xx': { type: 'integer' } } },
    bytes_in: { type: 'integer', description: 'Heads and bodies of requests.' },
    bytes_out: { type: 'integer', description: 'Heads and bodies of answers.' },
    latency: latencySchema,
    upstream_latency: latencySchema,
  },
};

function listOf(name: string): JsonObject {
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
    },
  };
}
