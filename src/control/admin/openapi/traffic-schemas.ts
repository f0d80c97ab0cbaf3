import type { JsonObject } from './json-object.ts';

const named: JsonObject = {
  type: ['object', 'null'],
  properties: { id: { type: 'string' }, name: { type: ['string', 'null'] } },
};

const milliseconds = (description: string): JsonObject => ({ type: ['number', 'null'], description });

const recordedBody: JsonObject = {
  type: 'object',
  required: ['media_type', 'bytes', 'truncated'],
  properties: {
    media_type: { type: ['string', 'null'] },
    bytes: { type: 'integer', description: 'Of the whole body as it was sent, in its content coding.' },
    truncated: { type: 'boolean', description: 'It was longer than what is shown.' },
    text: { type: 'string', description: 'Without its content coding; secrets are masked.' },
    base64: { type: 'string', description: 'Instead of `text`: what is no text.' },
    reason: { type: 'string', description: 'Instead of both: why it is left out.' },
  },
};

export const trafficSchema: JsonObject = {
  type: 'object',
  required: ['id', 'at', 'client', 'method', 'scheme', 'host', 'path', 'status', 'by', 'duration', 'traced'],
  properties: {
    id: { type: 'string', description: 'Id of the request, as in `X-Kong-Request-Id`.' },
    at: { type: 'string', format: 'date-time', description: 'When it began: ISO 8601 in UTC, with milliseconds.' },
    client: { type: 'string', description: 'Address of the client.' },
    method: { type: 'string' },
    scheme: { enum: ['http', 'https'] },
    host: { type: 'string' },
    path: { type: 'string', description: 'Normalised, without the query.' },
    status: { type: 'integer', description: '499: the client disconnected before it was answered.' },
    by: { enum: ['backend', 'plugin', 'gateway', 'nobody'], description: 'Who answered.' },
    who: { type: ['string', 'null'], description: 'Address of the backend, or name of the plugin.' },
    reason: { type: ['string', 'null'], description: 'Why the answer is an error; null: it is none.' },
    route: named,
    service: named,
    consumer: {
      type: ['object', 'null'],
      properties: {
        id: { type: 'string' },
        username: { type: ['string', 'null'] },
        custom_id: { type: ['string', 'null'] },
      },
    },
    credential: { type: ['string', 'null'], description: 'Id of the credential.' },
    tries: { type: 'integer', description: 'Attempts at a backend.' },
    backend: { type: ['string', 'null'], description: 'Address of the last attempt.' },
    duration: { type: 'number', description: 'Milliseconds in all.' },
    gateway: { type: 'number', description: 'Milliseconds until a backend was first asked.' },
    upstream: milliseconds('Milliseconds from there to the first byte of its answer; null: no backend was asked.'),
    receive: milliseconds('Milliseconds from there to the end; null: no backend answered.'),
    bytes_in: { type: 'integer', description: 'Head and body of the request.' },
    bytes_out: { type: 'integer', description: 'Head and body of the answer.' },
    aborted: { type: 'boolean', description: 'The client disconnected before the answer was complete.' },
    traced: { type: 'boolean', description: 'The explanation has plugins, attempts and the timeline.' },
    explanation: {
      type: 'object',
      description:
        'What happened, and why: the members of `sluicegate explain`. Not in lists. For callers who may edit, and if bodies were recorded, `request.body` and `response.body` contain them.',
      properties: {
        request: {
          type: ['object', 'null'],
          properties: { body: { anyOf: [{ type: 'string', description: 'Its length.' }, recordedBody] } },
        },
        response: { type: 'object', properties: { body: { anyOf: [recordedBody, { type: 'null' }] } } },
      },
    },
  },
};

/** In addition to the page of a list. */
export const trafficListProperties: JsonObject = {
  recorder: {
    type: 'object',
    properties: {
      state: { enum: ['always', 'on', 'off'], description: '`on`: because somebody looks.' },
      bodies: { type: 'integer', description: 'Bytes of each body that are recorded; 0: none.' },
      seen: { type: 'integer', description: 'Requests that ended while it was on.' },
      sampled: { type: 'integer', description: 'Those that were recorded.' },
      dropped: { type: 'integer', description: 'Records that were lost because the control plane was behind.' },
      dropped_bodies: { type: 'integer', description: 'Bodies that were left out for lack of memory or time.' },
      kept: { type: 'integer' },
    },
  },
};

const microseconds = {
  p50: { type: 'integer', description: 'Median, in microseconds.' },
  p99: { type: 'integer', description: '99th percentile, in microseconds.' },
} as const;
const samples: JsonObject = { type: 'integer', description: 'Runs of an instance in a request, all phases together.' };
const requestTime = (description: string): JsonObject => ({
  type: ['string', 'null'],
  format: 'date-time',
  description,
});

/** What plugins took. */
export const pluginCostsSchema: JsonObject = {
  type: 'object',
  required: ['data', 'requests', 'from', 'to'],
  properties: {
    data: {
      type: 'array',
      items: {
        type: 'object',
        required: ['plugin', 'samples', 'p50', 'p99', 'phases', 'instances'],
        properties: {
          plugin: { type: 'string' },
          samples,
          ...microseconds,
          phases: {
            type: 'object',
            description: 'By phase.',
            additionalProperties: { type: 'object', required: ['p50', 'p99'], properties: microseconds },
          },
          instances: {
            type: 'array',
            items: {
              type: 'object',
              required: ['id', 'samples', 'p50', 'p99'],
              properties: { id: { type: 'string' }, samples, ...microseconds },
            },
          },
        },
      },
    },
    requests: { type: 'integer', description: 'Recorded requests with a timeline.' },
    from: requestTime('When the first of them began; null: there is none.'),
    to: requestTime('When the last of them began.'),
  },
};
