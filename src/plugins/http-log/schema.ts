import {
  endpointHeaders,
  endpointUrl,
  type Infer,
  legacyQueueFields,
  logFields,
  number,
  queueField,
  record,
  string,
} from '../../plugin-sdk/schema.ts';

export const config = record({
  http_endpoint: endpointUrl({
    required: true,
    description:
      'Where records go: an `http` or `https` address. A user and password in it become Basic authentication.',
  }),
  method: string({ default: 'POST', one_of: ['POST', 'PUT', 'PATCH'], description: 'Method of the requests.' }),
  content_type: string({
    default: 'application/json',
    one_of: ['application/json', 'application/json; charset=utf-8'],
    description: 'Their `Content-Type`.',
  }),
  timeout: number({
    default: 10_000,
    between: [1, 2_147_483_646],
    unit: 'ms',
    description: 'Milliseconds for connecting, for sending, for the head of the answer, and for its end, each.',
  }),
  keepalive: number({
    default: 60_000,
    between: [0, 2_147_483_646],
    unit: 'ms',
    description: 'Milliseconds after which an idle connection is closed; 0: when the receiver closes it.',
  }),
  ...legacyQueueFields(),
  headers: endpointHeaders('Headers of the requests, such as `Authorization`. They are in no log.'),
  queue: queueField('records'),
  ...logFields(),
});

export type HttpLogConfig = Infer<typeof config>;
