import type { JsonObject } from './json-object.ts';

const integer: JsonObject = { type: 'integer' };
const text: JsonObject = { type: 'string' };
const nullableText: JsonObject = { type: ['string', 'null'] };
const time = (description: string): JsonObject => ({
  type: 'number',
  description: `${description}, seconds since the epoch.`,
});
const nullableTime = (description: string): JsonObject => ({ ...time(description), type: ['number', 'null'] });
const reference = (description: string): JsonObject => ({
  type: ['object', 'null'],
  description,
  required: ['id'],
  properties: { id: nullableText },
});

function object(properties: JsonObject, description?: string): JsonObject {
  return {
    type: 'object',
    required: Object.keys(properties),
    properties,
    ...(description === undefined ? {} : { description }),
  };
}

/** At most 100 items, and how many there are. */
function listed(item: JsonObject, more: JsonObject = {}, description?: string): JsonObject {
  const data = { type: 'array', maxItems: 100, items: object(item) };
  return object({ ...more, total: integer, data }, description);
}

/** Null: it could not be read in time. */
const orNull = (schema: JsonObject): JsonObject => ({ ...schema, type: ['object', 'null'] });

const statuses = object(Object.fromEntries([1, 2, 3, 4, 5].map((first) => [`${first}xx`, integer])));

const traffic = object(
  {
    seconds: { type: 'number', description: 'How long it was.' },
    requests: { ...integer, description: 'Requests that ended.' },
    requests_per_second: { type: 'number' },
    errors: object({ '4xx': integer, '5xx': integer }),
    errors_per_second: { type: 'number' },
    statuses,
    latency: {
      ...object({ p50: { type: 'number' }, p90: { type: 'number' }, p99: { type: 'number' } }),
      type: ['object', 'null'],
      description: 'Milliseconds; null without requests. Off by 4 % at most.',
    },
    bytes_in: integer,
    bytes_out: integer,
    bad_requests: { ...integer, description: 'Refused as malformed, before routing.' },
    shed_requests: { ...integer, description: 'Refused because of overload.' },
    retries: integer,
    backend_failures: { ...integer, description: 'Attempts at backends that failed.' },
    connections_accepted: integer,
  },
  'Traffic of some seconds.',
);

const usages: JsonObject = { type: 'array', items: { $ref: '#/components/schemas/usage' } };
const ranking = object({ by_requests: usages, by_errors: usages, by_latency: usages });
const levels = object(Object.fromEntries(['warn', 'error', 'crit', 'alert', 'emerg'].map((level) => [level, integer])));

/** `GET /overview`. */
export const overviewSchema: JsonObject = object({
  time: time('When it was made'),
  node: object({
    id: text,
    hostname: text,
    version: text,
    role: text,
    started_at: time('When the process began'),
    ready: { type: 'boolean' },
    not_ready_reason: nullableText,
  }),
  traffic: object({
    last_second: traffic,
    last_10_seconds: traffic,
    last_minute: traffic,
    in_flight: { ...integer, description: 'Requests that are not answered yet.' },
    connections: { ...integer, description: 'Of clients.' },
  }),
  usage: orNull(
    object(
      {
        from: time('Start of the last full minute, or of the process'),
        to: time('Up to when requests are included'),
        totals: { $ref: '#/components/schemas/usage' },
        statuses: usages,
        routes: ranking,
        services: ranking,
        consumers: ranking,
        limited: { ...usages, description: 'Answers with 429, by route and consumer.' },
      },
      'Of this node, in the last full minute and the current one; null while analytics are off.',
    ),
  ),
  failing_targets: listed({
    upstream: reference('The upstream.'),
    target: reference('The target.'),
    address: { ...nullableText, description: '`10.0.0.1:80`; null when its name does not resolve.' },
    reason: nullableText,
    state: { enum: ['unhealthy', 'dns_error'] },
    since: nullableTime('Since when'),
  }),
  circuits: listed({
    plugin: reference('The plugin instance.'),
    name: text,
    state: { enum: ['open', 'half-open', 'ramp'] },
    since: nullableTime('Since when'),
    service: reference('The service that it protects.'),
    upstream: reference('The upstream of the target.'),
    target: reference('The target that it protects.'),
  }),
  limits: listed(
    {
      plugin: reference('The plugin instance.'),
      rejected: integer,
      delayed: integer,
      last: time('The last time'),
    },
    { seconds: { type: 'number', description: 'Length of the time that is covered.' } },
    'Plugin instances that rejected or delayed requests.',
  ),
  workers: object({
    wanted: integer,
    listening: integer,
    restarts: { ...integer, description: 'Workers that ended and were replaced.' },
    stuck: { ...integer, description: 'Of these, that did not respond or whose heap stayed full.' },
    data: {
      type: 'array',
      items: object({
        worker: integer,
        state: { enum: ['absent', 'starting', 'listening', 'stuck'] },
        event_loop_delay: { type: 'number', description: 'Seconds, 99th percentile of the last 5 s.' },
        heap_used: { ...integer, description: 'Bytes.' },
      }),
    },
  }),
  nodes: orNull(
    listed(
      {
        id: text,
        hostname: text,
        role: text,
        state: { enum: ['ready', 'not ready', 'silent'] },
        version: text,
        not_ready_reason: nullableText,
        config_version: { type: ['integer', 'null'] },
        config_failures: { type: ['integer', 'null'] },
        lag_versions: { type: ['integer', 'null'] },
        requests_per_second: {
          type: ['number', 'null'],
          description: 'Between its last two reports; null: there is one.',
        },
        unhealthy: integer,
        circuits: integer,
      },
      {
        ready: integer,
        not_ready: integer,
        silent: integer,
        store_version: { type: ['integer', 'null'] },
        stale: { type: 'boolean' },
      },
      'As `GET /nodes`, those that are not ready first.',
    ),
  ),
  certificates: orNull(
    listed(
      {
        certificate: reference('A certificate of the config.'),
        ca_certificate: reference('A CA certificate of the config.'),
        setting: { ...nullableText, description: 'The setting that names it.' },
        names: { type: 'array', items: text, description: 'Server names that show it, or its subject.' },
        expires_at: time('Its expiry'),
        expired: { type: 'boolean' },
        managed_by: { enum: ['acme', null] },
      },
      { within_days: integer },
      'Certificates that have expired or expire soon.',
    ),
  ),
  config: object({
    version: integer,
    age: { type: ['number', 'null'], description: 'Seconds since the node last knew that it has the whole config.' },
    failures: listed({ entity: text, id: text, reason: text }, {}, 'Entities that cannot be used.'),
  }),
  database: orNull(object({ kind: text, reachable: { type: 'boolean' } })),
  log: object(
    {
      levels: { type: 'array', items: text },
      since_start: levels,
      last_hour: levels,
      data: {
        type: 'array',
        maxItems: 20,
        items: object({
          level: text,
          message: text,
          count: integer,
          first: time('The first line'),
          last: time('The last line'),
          fields: { type: 'object', description: 'Names, ids and reasons of the last line.' },
        }),
      },
    },
    'Lines of the error log from `warn` on.',
  ),
  descriptors: object({
    open: { type: ['integer', 'null'] },
    limit: { type: ['integer', 'null'] },
    exhaustions: { ...integer, description: 'How often the node ran out of them.' },
  }),
});
