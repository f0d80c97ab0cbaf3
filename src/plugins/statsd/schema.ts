import {
  agentHost,
  agentPort,
  consumerIdentifier,
  consumerIdentifiers,
  legacyQueueFields,
  metricPrefix,
  queueField,
  sampleRateCheck,
} from '../../plugin-kit/fields/index.ts';
import { array, boolean, type Infer, number, record, string } from '../../plugin-sdk/schema.ts';

const metricNames = [
  'kong_latency',
  'latency',
  'request_count',
  'request_per_user',
  'request_size',
  'response_size',
  'shdict_usage',
  'status_count',
  'status_count_per_user',
  'status_count_per_user_per_route',
  'status_count_per_workspace',
  'unique_users',
  'upstream_latency',
] as const;

const serviceIdentifiers = ['service_id', 'service_name', 'service_host', 'service_name_or_host'] as const;
const workspaceIdentifiers = ['workspace_id', 'workspace_name'] as const;

const defaultMetrics = [
  { name: 'request_count', stat_type: 'counter', sample_rate: 1 },
  { name: 'latency', stat_type: 'timer' },
  { name: 'request_size', stat_type: 'counter', sample_rate: 1 },
  { name: 'status_count', stat_type: 'counter', sample_rate: 1 },
  { name: 'response_size', stat_type: 'counter', sample_rate: 1 },
  { name: 'unique_users', stat_type: 'set' },
  { name: 'request_per_user', stat_type: 'counter', sample_rate: 1 },
  { name: 'upstream_latency', stat_type: 'timer' },
  { name: 'kong_latency', stat_type: 'timer' },
  { name: 'status_count_per_user', stat_type: 'counter', sample_rate: 1 },
  { name: 'status_count_per_workspace', stat_type: 'counter', sample_rate: 1 },
  { name: 'status_count_per_user_per_route', stat_type: 'counter', sample_rate: 1 },
  { name: 'shdict_usage', stat_type: 'gauge', sample_rate: 1 },
];

const metric = record(
  {
    name: string({ required: true, one_of: metricNames, description: 'Name of the metric; see the table above.' }),
    stat_type: string({
      required: true,
      one_of: ['counter', 'gauge', 'histogram', 'meter', 'set', 'timer'],
      description: 'Statsd type of the metric. `unique_users` can only be a `set`.',
    }),
    sample_rate: number({
      gt: 0,
      description:
        'Fraction of requests that are reported; 1 or more: all. Required for `counter` and `gauge`; ignored for `set` and `meter`. Null: all.',
    }),
    consumer_identifier: consumerIdentifier('Field that names the consumer. Null: `consumer_identifier_default`.'),
    service_identifier: string({
      one_of: serviceIdentifiers,
      description: 'Field that names the service. Null: `service_identifier_default`.',
    }),
    workspace_identifier: string({
      one_of: workspaceIdentifiers,
      description: 'Field that names the workspace. Null: `workspace_identifier_default`.',
    }),
  },
  {
    checks: [
      sampleRateCheck,
      {
        conditional: {
          if_field: 'name',
          if_match: { eq: 'unique_users' },
          then_field: 'stat_type',
          then_match: { eq: 'set' },
        },
      },
    ],
    description: 'One metric, and in what form it is sent.',
  },
);

export const config = record({
  host: agentHost('the statsd server'),
  port: agentPort('the server'),
  prefix: metricPrefix(),
  metrics: array(metric, {
    default: defaultMetrics,
    len_max: 64,
    description: 'Metrics that are sent for each request. Null: none.',
  }),
  allow_status_codes: array(
    string({ match: /^[0-9]+-[0-9]+$/, custom: rangeProblem, description: 'As in `200-299`; both ends belong to it.' }),
    { len_max: 64, description: 'Reports only requests whose status is in one of these ranges. Null: all.' },
  ),
  udp_packet_size: number({
    default: 0,
    between: [0, 65_507],
    unit: 'bytes',
    description:
      'Maximum size of a datagram. 0: 1432, which passes an Ethernet without fragmentation. 1: one datagram per metric.',
  }),
  use_tcp: boolean({ default: false, description: 'Uses a TCP connection instead of UDP.' }),
  hostname_in_prefix: boolean({
    default: false,
    description: 'Inserts the name of this machine after the prefix: `kong.node.<name>.`',
  }),
  consumer_identifier_default: string({
    required: true,
    default: 'custom_id',
    one_of: consumerIdentifiers,
    description: 'Field that names consumers by default.',
  }),
  service_identifier_default: string({
    required: true,
    default: 'service_name_or_host',
    one_of: serviceIdentifiers,
    description: 'Field that names services by default.',
  }),
  workspace_identifier_default: string({
    required: true,
    default: 'workspace_id',
    one_of: workspaceIdentifiers,
    description: 'Field that names the workspace by default. There is one, `default`; its id equals its name.',
  }),
  ...legacyQueueFields(),
  tag_style: string({
    one_of: ['dogstatsd', 'influxdb', 'librato', 'signalfx'],
    description: 'Sends service, route, consumer, workspace and status as tags in this format. Null: in the name.',
  }),
  queue: queueField('requests'),
});

export type StatsdConfig = Infer<typeof config>;

function rangeProblem(text: string): string | null {
  const [from, to] = text.split('-').map(Number);
  return (from ?? 0) <= (to ?? 0) ? null : 'the range is empty: its first status must not be above its last';
}
