import {
  endpointHeaders,
  endpointUrl,
  legacyQueueFields,
  logFields,
  queueField,
} from '../../plugin-kit/fields/index.ts';
import { type Infer, number, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  http_endpoint: endpointUrl({
    required: true,
    description: 'URL of the receiver, `http` or `https`. User and password in it are sent as Basic authentication.',
  }),
  method: string({
    default: 'POST',
    one_of: ['POST', 'PUT', 'PATCH'],
    description: 'Method of the requests to the receiver.',
  }),
  content_type: string({
    default: 'application/json',
    one_of: ['application/json', 'application/json; charset=utf-8'],
    description: '`Content-Type` of the requests to the receiver.',
  }),
  timeout: number({
    default: 10_000,
    between: [1, 2_147_483_646],
    unit: 'ms',
    description: 'Timeout of each step: connecting, sending, the head of the response, and the rest of it.',
  }),
  keepalive: number({
    default: 60_000,
    between: [0, 2_147_483_646],
    unit: 'ms',
    description: 'Time after which an idle connection is closed. 0: when the receiver closes it.',
  }),
  ...legacyQueueFields(),
  headers: endpointHeaders(
    'Additional headers of the requests, such as `Authorization`. Their values appear in no log.',
  ),
  queue: queueField('records'),
  ...logFields(),
});

export type HttpLogConfig = Infer<typeof config>;
