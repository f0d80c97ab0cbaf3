import { type TrafficSample, trafficValues } from '../../plugin-kit/telemetry/statsd/index.ts';
import type { StatsdConfig } from './schema.ts';

export type MetricConfig = NonNullable<StatsdConfig['metrics']>[number];
export type MetricName = MetricConfig['name'];

/** The parts of a name, already without dots. */
export interface NameWords {
  readonly consumer: string;
  readonly route: string;
  readonly workspace: string;
}

export interface MetricKind {
  /** The name with tags. */
  readonly tagged: string;
  /** The part after the scope in a name without tags. */
  readonly name: (sample: TrafficSample, words: NameWords) => string;
  /** Below 0: no value. Null: the consumer is the value. */
  readonly value: ((sample: TrafficSample) => number) | null;
  /** Not reported for requests without a consumer. */
  readonly needsConsumer: boolean;
  /** Its scope is the route, not the service. Not reported for requests without a route. */
  readonly ofRoute: boolean;
}

const one = (): number => 1;

function kind(tagged: string, name: MetricKind['name'], more: Partial<MetricKind> = {}): MetricKind {
  return { tagged, name, value: one, needsConsumer: false, ofRoute: false, ...more };
}

function traffic(metric: keyof typeof trafficValues): MetricKind {
  const { name, value } = trafficValues[metric];
  return kind(name, () => name, { value });
}

/** All metrics of requests, with Kong's names. */
export const metricKinds: Readonly<Record<Exclude<MetricName, 'shdict_usage'>, MetricKind>> = {
  request_count: traffic('request_count'),
  latency: traffic('latency'),
  request_size: traffic('request_size'),
  response_size: traffic('response_size'),
  upstream_latency: traffic('upstream_latency'),
  kong_latency: traffic('kong_latency'),
  status_count: kind('status', ({ status }) => `status.${status}`),
  unique_users: kind('user.uniques', () => 'user.uniques', { value: null, needsConsumer: true }),
  request_per_user: kind('user.request.count', (_, { consumer }) => `user.${consumer}.request.count`, {
    needsConsumer: true,
  }),
  status_count_per_user: kind('user.status', ({ status }, { consumer }) => `user.${consumer}.status.${status}`, {
    needsConsumer: true,
  }),
  status_count_per_workspace: kind(
    'workspace.status',
    ({ status }, { workspace }) => `workspace.${workspace}.status.${status}`,
  ),
  status_count_per_user_per_route: kind(
    'route.user.status',
    ({ status }, { consumer, route }) => `route.${route}.user.${consumer}.status.${status}`,
    { needsConsumer: true, ofRoute: true },
  ),
};
