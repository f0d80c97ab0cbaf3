import type { JsonObject } from './json-object.ts';

const instance: JsonObject = {
  id: { type: 'string', format: 'uuid' },
  name: { type: 'string' },
  instance_name: { type: ['string', 'null'] },
  scope: { type: 'array', items: { enum: ['global', 'route', 'service', 'consumer'] } },
  priority: { type: 'integer' },
  error: { type: ['string', 'null'], description: 'Why it cannot be set up: it refuses all requests; null: it can.' },
};
const named: JsonObject = {
  type: ['object', 'null'],
  properties: { id: { type: 'string' }, name: { type: ['string', 'null'] } },
};

/** `GET /routes/{route}/effective-plugins`. */
export const effectivePluginsSchema: JsonObject = {
  type: 'object',
  required: ['route', 'service', 'consumer', 'authenticated_by', 'authenticators', 'data', 'shadowed'],
  properties: {
    route: named,
    service: named,
    consumer: {
      type: ['object', 'null'],
      properties: { id: { type: 'string' }, username: { type: ['string', 'null'] } },
    },
    authenticated_by: {
      type: ['string', 'null'],
      description: 'The plugin that identifies the consumer; null: none does, or no consumer was chosen.',
    },
    authenticators: { type: 'array', items: { type: 'string' }, description: 'Those that could.' },
    data: {
      type: 'array',
      items: { type: 'object', required: Object.keys(instance), properties: instance },
      description: 'The instances that run, in their order.',
    },
    shadowed: {
      type: 'array',
      items: {
        type: 'object',
        required: [...Object.keys(instance), 'by', 'because'],
        properties: {
          ...instance,
          by: { type: ['string', 'null'], description: 'Id of the instance that runs instead.' },
          because: { type: 'string' },
        },
      },
      description: 'Those that do not.',
    },
  },
};

/** The body of `POST /explain`. */
export const explainRequestSchema: JsonObject = {
  type: 'object',
  required: ['url'],
  additionalProperties: false,
  properties: {
    method: { type: 'string', pattern: '^[A-Z]+$', description: 'Default: GET, or POST with a body.' },
    url: {
      type: 'string',
      pattern: '^(?:/|https?://)',
      description:
        'Path and query, or a URL with http or https: its host becomes `Host`, and https chooses a listener with TLS.',
    },
    headers: {
      type: 'object',
      additionalProperties: { type: ['string', 'array'], items: { type: 'string' } },
      description: 'Name and value; a list for a header that is repeated.',
    },
    body: { type: ['string', 'null'], description: 'At most 1 MiB.' },
    body_base64: { type: ['string', 'null'], contentEncoding: 'base64', description: 'Instead of `body`.' },
    dry: { type: 'boolean', default: false, description: 'Contact no backend.' },
  },
};

/** The answer of `POST /explain`. */
export const explainedAnswerSchema: JsonObject = {
  type: 'object',
  required: ['status', 'headers', 'body', 'explanation', 'problem'],
  properties: {
    status: { type: ['integer', 'null'], description: 'Null: nothing was answered, as in a dry run.' },
    headers: { type: 'object', description: 'Those of the answer; secrets are masked.' },
    body: {
      type: ['object', 'null'],
      required: ['truncated'],
      properties: {
        text: { type: 'string', description: 'If it is valid UTF-8; otherwise there is `base64`.' },
        base64: { type: 'string', contentEncoding: 'base64' },
        truncated: { type: 'boolean', description: 'It has more than 256 KiB.' },
      },
    },
    explanation: {
      type: ['object', 'null'],
      description: 'The document of `sluicegate explain`; null: the request was refused before it could be explained.',
    },
    problem: {
      type: ['string', 'null'],
      description: 'Why there is no answer to a request that was sent: it may have been carried out.',
    },
  },
};
