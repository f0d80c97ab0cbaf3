import type { JsonObject } from './json-object.ts';

export const auditSchema: JsonObject = {
  type: 'object',
  required: ['id', 'at', 'actor', 'operation', 'method', 'path', 'status', 'request_id', 'peer', 'client'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    at: { type: 'string', format: 'date-time', description: 'When: ISO 8601 in UTC, with milliseconds.' },
    actor: {
      type: 'object',
      description: 'Who: the name is stable and no secret.',
      properties: {
        kind: {
          enum: ['token', 'anonymous', 'user', 'cli'],
          description: '`token`: the setting `admin_token`. `cli`: a command that opened the store.',
        },
        name: { type: 'string' },
        user: { type: 'string', description: 'Id of the admin user.' },
        token: { type: 'string', description: 'Id of its token.' },
      },
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

export const configVersionSchema: JsonObject = {
  type: 'object',
  required: ['version', 'at', 'actor', 'action', 'note', 'created', 'updated', 'deleted'],
  properties: {
    version: { type: 'integer', description: 'Ascends, with gaps.' },
    at: { type: 'string', format: 'date-time', description: 'When: ISO 8601 in UTC, with milliseconds.' },
    actor: { type: ['string', 'null'], description: 'Who made it; null for the gateway itself.' },
    action: {
      enum: ['write', 'apply', 'rollback', 'undo', 'start'],
      description: '`start`: the history begins with it.',
    },
    note: { type: ['string', 'null'] },
    created: { type: 'integer', description: 'Number of entities.' },
    updated: { type: 'integer' },
    deleted: { type: 'integer' },
    changes: { type: 'array', items: { type: 'object' }, description: 'What changed, without secrets; not in lists.' },
    truncated: { type: 'boolean', description: 'There are more changes; continue with `after`.' },
  },
};

const latencySchema: JsonObject = {
  type: ['object', 'null'],
  description: 'Milliseconds; null when there was none. Quantiles are off by 4 % at most.',
  properties: Object.fromEntries(['mean', 'p50', 'p90', 'p95', 'p99', 'max'].map((name) => [name, { type: 'number' }])),
};

export const usageSchema: JsonObject = {
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

/** The range and resolution of an answer about usage. */
export const rangeProperties: JsonObject = {
  from: { type: 'string', format: 'date-time', description: 'What is covered: `from`, widened to whole periods.' },
  to: { type: 'string', format: 'date-time', description: 'Its end, itself not included.' },
  resolution: { enum: ['minute', 'hour', 'day'], description: 'The rows that were read.' },
};

const usage = { $ref: '#/components/schemas/usage' };
const usages = { type: 'array', items: usage };

export const summarySchema: JsonObject = {
  type: 'object',
  required: [
    ...Object.keys(rangeProperties),
    'totals',
    'timeline',
    'routes',
    'services',
    'consumers',
    'versions',
    'statuses',
    'dropped',
  ],
  properties: {
    ...rangeProperties,
    totals: usage,
    timeline: usages,
    routes: usages,
    services: usages,
    consumers: usages,
    versions: usages,
    statuses: usages,
    dropped: { type: 'integer', description: 'Requests that this node could not count or keep since its start.' },
  },
};
