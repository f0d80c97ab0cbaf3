import type { JsonObject } from './json-object.ts';

const count = (description: string): JsonObject => ({ type: 'integer', minimum: 0, description });

const named: JsonObject = {
  type: ['object', 'null'],
  required: ['id', 'name'],
  properties: { id: { type: 'string' }, name: { type: ['string', 'null'] } },
};

const outcome: JsonObject = {
  status: { type: ['integer', 'null'], description: 'Null: a backend would answer, and its status is not known.' },
  by: { enum: ['backend', 'plugin', 'gateway', 'nobody'], description: 'Who answers.' },
  who: { type: ['string', 'null'], description: 'Name of the plugin, or host and port of the service.' },
  route: named,
  service: named,
};

function object(properties: JsonObject): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties };
}

const time: JsonObject = { type: ['string', 'null'], format: 'date-time' };

export const whatIfRequestSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  properties: {
    changes: {
      type: 'array',
      minItems: 1,
      maxItems: 500,
      description: 'Writes of the Admin API, in their order.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['method', 'path'],
        properties: {
          method: { enum: ['POST', 'PUT', 'PATCH', 'DELETE'] },
          path: { type: 'string', pattern: '^/[^?#\\s]*$', maxLength: 8192 },
          body: { type: ['object', 'null'] },
        },
      },
    },
    config: {
      type: ['object', 'string'],
      description: 'A declarative document, or its text in YAML or JSON, instead of `changes`. For the role `admin`.',
    },
    version: {
      type: 'integer',
      minimum: 0,
      description: 'A rollback to this version of the config, instead of `changes`. For the role `admin`.',
    },
    requests: { type: 'integer', minimum: 1, maximum: 1000, default: 1000, description: 'Maximum number of requests.' },
  },
};

export const whatIfSchema: JsonObject = object({
  requests: object({
    kept: count('Recorded requests that could be repeated.'),
    replayed: count('Those that were repeated.'),
    undecided: count('Those of them about which nothing can be said.'),
    from: time,
    to: time,
  }),
  refused: count('Answered before, and refused by the changed config.'),
  admitted: count('Refused before, and not by the changed config.'),
  rerouted: count('Sent to another route, service or path.'),
  changed: count('With another outcome.'),
  groups: {
    type: 'array',
    maxItems: 100,
    items: object({
      before: object(outcome),
      after: object({
        ...outcome,
        reason: { type: ['string', 'null'], description: 'Why, in one sentence; null: the answer is no error.' },
      }),
      count: count('Requests.'),
      examples: { type: 'array', maxItems: 5, items: { type: 'string' }, description: 'Ids of requests.' },
    }),
  },
  undecided: {
    type: 'array',
    maxItems: 100,
    items: object({
      reason: { type: 'string' },
      plugin: { type: ['string', 'null'], description: 'The plugin that it depends on.' },
      count: count('Requests.'),
    }),
  },
  note: { type: ['string', 'null'], description: 'Why not all kept requests were repeated, or why there are none.' },
});
