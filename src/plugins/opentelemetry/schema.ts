import {
  endpointHeaders,
  endpointUrl,
  headerTypeField,
  propagationField,
  queueField,
  traceHeaderField,
} from '../../plugin-kit/fields/index.ts';
import { type EntityCheck, type Infer, integer, map, number, record, string } from '../../plugin-sdk/schema.ts';
import { metricsField } from './metrics/fields.ts';

function milliseconds(usual: number, description: string) {
  return integer({ default: usual, between: [0, 2_147_483_646], unit: 'ms', description });
}

export const config = record(
  {
    traces_endpoint: endpointUrl({
      description:
        'Full URL that spans are sent to, as OTLP over HTTP with protocol buffers: `http://collector:4318/v1/traces`. Null: trace headers are propagated, and no spans are sent.',
    }),
    logs_endpoint: endpointUrl({
      description:
        'Full URL that log records of requests are sent to: `http://collector:4318/v1/logs`. Null: none are sent.',
    }),
    metrics: metricsField(),
    headers: endpointHeaders(
      'Additional headers of everything that is sent, such as a key of the receiver. Their values appear in no log.',
    ),
    resource_attributes: map(string({ required: true }), string({ required: true }), {
      description:
        'Attributes of the resource. They extend or override `service.name` (`kong`), `service.instance.id` and `service.version`.',
    }),
    queue: queueField('entries', { max_batch_size: 200 }),
    batch_span_count: integer({
      deprecation: { message: 'use queue.max_batch_size', replaced_with: [{ path: ['queue', 'max_batch_size'] }] },
      between: [1, 1_000_000],
      description: 'Deprecated: overrides `queue.max_batch_size` when set.',
    }),
    batch_flush_delay: integer({
      deprecation: {
        message: 'use queue.max_coalescing_delay',
        replaced_with: [{ path: ['queue', 'max_coalescing_delay'] }],
      },
      between: [0, 3600],
      unit: 's',
      description: 'Deprecated: overrides `queue.max_coalescing_delay` when set.',
    }),
    connect_timeout: milliseconds(1000, 'Timeout of connecting to a receiver.'),
    send_timeout: milliseconds(5000, 'Timeout of sending a message.'),
    read_timeout: milliseconds(5000, 'Timeout of waiting for the response.'),
    http_response_header_for_traceid: traceHeaderField(),
    header_type: headerTypeField(),
    sampling_rate: number({
      between: [0, 1],
      description: 'Fraction of requests that are traced, 0 to 1. Null: the setting `tracing_sampling_rate`.',
    }),
    sampling_strategy: string({
      required: true,
      default: 'parent_probability_fallback',
      one_of: ['parent_probability_fallback', 'parent_drop_probability_fallback', 'probability'],
      description:
        "How the client's decision and the rate are combined. `parent_probability_fallback`: the client's decision counts; without one the rate decides. `parent_drop_probability_fallback`: requests that the client does not trace are not traced; for the rest the rate decides. `probability`: the rate alone decides.",
    }),
    propagation: propagationField('w3c'),
  },
  { shorthands: { endpoint: { field: endpointUrl({}), replacedWith: ['traces_endpoint'] } } },
);

export type OpentelemetryConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { at_least_one_of: ['config.traces_endpoint', 'config.logs_endpoint', 'config.metrics.endpoint'] },
];
