import { headerTypeField, propagationField, traceHeaderField } from '../../plugin-sdk/propagation/fields.ts';
import {
  type EntityCheck,
  endpointHeaders,
  endpointUrl,
  type Infer,
  integer,
  map,
  number,
  queueField,
  record,
  string,
} from '../../plugin-sdk/schema.ts';
import { metricsField } from './metrics/fields.ts';

function milliseconds(usual: number, description: string) {
  return integer({ default: usual, between: [0, 2_147_483_646], unit: 'ms', description });
}

export const config = record(
  {
    traces_endpoint: endpointUrl({
      description:
        'Whole URL that spans are sent to, by OTLP/HTTP in protocol buffers: `http://collector:4318/v1/traces`. Null: headers are passed on, and no span is sent.',
    }),
    logs_endpoint: endpointUrl({
      description:
        'Whole URL that log records of requests are sent to: `http://collector:4318/v1/logs`. Null: none are.',
    }),
    metrics: metricsField(),
    headers: endpointHeaders(
      'Header fields of all that is sent, such as a key of the receiver. Their values are in no log.',
    ),
    resource_attributes: map(string({ required: true }), string({ required: true }), {
      description:
        'Attributes of the resource besides `service.name` (`kong`), `service.instance.id` and `service.version`, or in their place.',
    }),
    queue: queueField('entries', { max_batch_size: 200 }),
    batch_span_count: integer({
      deprecation: { message: 'use queue.max_batch_size', replaced_with: [{ path: ['queue', 'max_batch_size'] }] },
      between: [1, 1_000_000],
      description: 'Deprecated: `queue.max_batch_size`, and in its place when it is set.',
    }),
    batch_flush_delay: integer({
      deprecation: {
        message: 'use queue.max_coalescing_delay',
        replaced_with: [{ path: ['queue', 'max_coalescing_delay'] }],
      },
      between: [0, 3600],
      unit: 's',
      description: 'Deprecated: `queue.max_coalescing_delay`, and in its place when it is set.',
    }),
    connect_timeout: milliseconds(1000, 'Until the connection to a receiver is there.'),
    send_timeout: milliseconds(5000, 'Until a message has gone.'),
    read_timeout: milliseconds(5000, 'Until it is answered.'),
    http_response_header_for_traceid: traceHeaderField(),
    header_type: headerTypeField(),
    sampling_rate: number({
      between: [0, 1],
      description: 'Share of requests that are traced, 0 to 1. Null: the setting `tracing_sampling_rate`.',
    }),
    sampling_strategy: string({
      required: true,
      default: 'parent_probability_fallback',
      one_of: ['parent_probability_fallback', 'parent_drop_probability_fallback', 'probability'],
      description:
        'How the decision of the client and the rate go together. `parent_probability_fallback`: a client that says whether it is traced decides; for others the rate does. `parent_drop_probability_fallback`: what the client does not trace is not traced, and of the rest a share is. `probability`: the rate alone decides.',
    }),
    propagation: propagationField('w3c'),
  },
  { shorthands: { endpoint: { field: endpointUrl({}), replacedWith: ['traces_endpoint'] } } },
);

export type OpentelemetryConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { at_least_one_of: ['config.traces_endpoint', 'config.logs_endpoint', 'config.metrics.endpoint'] },
];
