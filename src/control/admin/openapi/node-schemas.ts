import type { JsonObject } from './json-object.ts';

const nullableNumber = (description: string): JsonObject => ({ type: ['number', 'null'], description });

/** How current an answer about nodes is. */
const ageProperties: JsonObject = {
  store_version: { type: ['integer', 'null'], description: 'Version of the store that all nodes should have.' },
  stale: { type: 'boolean', description: 'The database is unavailable: only the own entry is of this moment.' },
  age: { type: 'number', description: 'Seconds since the other entries were read.' },
};

export const nodeSchema: JsonObject = {
  type: 'object',
  required: ['id', 'role', 'hostname', 'address', 'version', 'started_at', 'last_seen', 'state', 'lag', 'load'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    role: { enum: ['traditional', 'control_plane', 'data_plane'] },
    hostname: { type: 'string' },
    address: { type: 'string', description: 'Of its proxy listener, or of the Admin API: `10.0.0.7:8000`.' },
    version: { type: 'string', description: 'Of Sluicegate.' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    control_plane: { type: 'string', description: 'The control plane that a data plane is connected to.' },
    started_at: { type: 'number', description: 'Seconds since the epoch.' },
    last_seen: { type: 'number', description: 'When its last report arrived, seconds since the epoch.' },
    state: { enum: ['ready', 'not ready', 'silent'], description: '`silent`: no report for 15 s.' },
    not_ready_reason: { type: ['string', 'null'] },
    config_version: { type: ['integer', 'null'], description: 'Version that all its workers have.' },
    config_failures: { type: ['integer', 'null'], description: 'Entities that it cannot use.' },
    lag: {
      type: ['object', 'null'],
      description: 'How far its config is behind the store; null: not known.',
      properties: {
        versions: { type: 'integer' },
        seconds: nullableNumber('Since the node last knew that it has everything.'),
      },
    },
    load: {
      type: 'object',
      properties: {
        workers: nullableNumber('Number of worker threads.'),
        requests: nullableNumber('Since its start.'),
        requests_in_flight: nullableNumber('Requests that are not answered yet.'),
        event_loop_delay: nullableNumber('Of the slowest worker, 99th percentile of 5 s, seconds.'),
        shed_requests: nullableNumber('Refused because of overload, since its start.'),
      },
    },
    unhealthy: {
      type: 'array',
      description: 'Backends that it does not use, at most 100.',
      items: { type: 'object', properties: { upstream: { type: 'string' }, address: { type: 'string' } } },
    },
    circuits: {
      type: 'array',
      description: 'Circuits that are not closed, at most 100.',
      items: {
        type: 'object',
        properties: { plugin: { type: 'string' }, key: { type: 'string' }, state: { type: 'string' } },
      },
    },
    ...ageProperties,
  },
};

export const nodeListProperties: JsonObject = {
  data: { type: 'array', items: { $ref: '#/components/schemas/nodes' }, description: 'At most 1,000.' },
  next: { type: 'null' },
  total: { type: 'integer' },
  ...ageProperties,
};
