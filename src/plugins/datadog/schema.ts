import {
  agentHost,
  agentPort,
  consumerIdentifier,
  legacyQueueFields,
  metricPrefix,
  queueField,
  sampleRateCheck,
} from '../../plugin-kit/fields/index.ts';
import { array, type Infer, number, record, string } from '../../plugin-sdk/schema.ts';

const common = { tags: ['app:kong'], consumer_identifier: 'custom_id' };

const defaultMetrics = [
  { name: 'request_count', stat_type: 'counter', sample_rate: 1, ...common },
  { name: 'latency', stat_type: 'timer', ...common },
  { name: 'request_size', stat_type: 'timer', ...common },
  { name: 'response_size', stat_type: 'timer', ...common },
  { name: 'upstream_latency', stat_type: 'timer', ...common },
  { name: 'kong_latency', stat_type: 'timer', ...common },
];

/** Characters that would end a tag or the line. */
const tagName = { not_match: /[\s\p{Cc}:|#,]/u, err: 'must not have spaces, control characters, or any of : | # ,' };

const metric = record(
  {
    name: string({
      required: true,
      one_of: ['kong_latency', 'latency', 'request_count', 'request_size', 'response_size', 'upstream_latency'],
      description:
        'Name of the metric: a count, milliseconds (`latency`: the whole request; `upstream_latency`: until the backend answered; `kong_latency`: within the gateway), or bytes.',
    }),
    stat_type: string({
      required: true,
      one_of: ['counter', 'gauge', 'histogram', 'meter', 'set', 'timer', 'distribution'],
      description: 'Statsd type of the metric.',
    }),
    tags: array(
      string({
        match: /^[^\s\p{Cc}|#,]+$/u,
        err: 'must not have spaces, control characters, or any of | # ,',
      }),
      { description: 'Additional tags, as `name:value` or `name`.' },
    ),
    sample_rate: number({
      between: [0, 1],
      description: 'Fraction of requests that are reported, 0 to 1. Required for `counter` and `gauge`. Null: all.',
    }),
    consumer_identifier: consumerIdentifier('Field that names the consumer in its tag. Null: no such tag.'),
  },
  { checks: [sampleRateCheck], description: 'One metric, and in what form it is sent.' },
);

export const config = record({
  host: agentHost('the Datadog agent'),
  port: agentPort('the agent'),
  prefix: metricPrefix(),
  service_name_tag: string({ default: 'name', ...tagName, description: 'Name of the tag with the service.' }),
  status_tag: string({ default: 'status', ...tagName, description: 'Name of the tag with the status.' }),
  consumer_tag: string({ default: 'consumer', ...tagName, description: 'Name of the tag with the consumer.' }),
  ...legacyQueueFields(),
  queue: queueField('requests'),
  metrics: array(metric, {
    required: true,
    default: defaultMetrics,
    len_max: 64,
    description: 'Metrics that are sent for each request.',
  }),
});

export type DatadogConfig = Infer<typeof config>;
