import type { ConsumerIdentifier, TagStyle, TrafficSample } from '../../plugin-kit/telemetry/statsd/index.ts';
import { consumerName, isSampled, lineEnd, namePart, valueText } from '../../plugin-kit/telemetry/statsd/index.ts';
import { type MetricConfig, metricKinds } from './metric-kinds.ts';
import { namePrefix, sampleTags, serviceScopes, workspace } from './names.ts';
import type { StatsdConfig } from './schema.ts';

interface Metric {
  readonly rate: number;
  /** Null: no metrics. */
  line(sample: TrafficSample): string | null;
}

/** The lines of one request. */
export interface RequestLines {
  /** Requests whose random number is not below this have no line. */
  readonly share: number;
  /** Whether requests with this status are reported. */
  takes(status: number): boolean;
  write(sample: TrafficSample, draw: number, add: (line: string) => void): void;
}

/** Precomputes everything that is the same for all requests. */
export function requestLines(config: StatsdConfig, hostname: string): RequestLines {
  const prefix = namePrefix(config, hostname);
  const scopes = keptBy((by: StatsdConfig['service_identifier_default']) => serviceScopes(prefix, by));
  const tags = keptBy((key: string) => {
    const [style, service, consumer] = key.split(' ') as [TagStyle, Identifiers['service'], ConsumerIdentifier];
    return sampleTags(style, service, consumer);
  });

  const compile = (metric: MetricConfig): Metric[] => {
    if (metric.name === 'shdict_usage') return [];
    const by = identifiers(metric, config);
    const rate = isSampled(metric.stat_type) ? Math.min(1, metric.sample_rate ?? 1) : 1;
    const parts = { kind: metricKinds[metric.name], consumerBy: by.consumer, end: lineEnd(metric.stat_type, rate) };
    const line =
      config.tag_style === null
        ? namedLine(parts, prefix, scopes(by.service))
        : taggedLine(parts, prefix, config.tag_style, tags(`${config.tag_style} ${by.service} ${by.consumer}`));
    return [{ rate, line }];
  };

  const metrics = (config.metrics ?? []).flatMap(compile);
  const takes = statusRanges(config.allow_status_codes);
  return {
    share: metrics.reduce((most, { rate }) => Math.max(most, rate), 0),
    takes,
    write(sample, draw, add) {
      for (const metric of metrics) {
        if (draw >= metric.rate) continue;
        const line = metric.line(sample);
        if (line !== null) add(line);
      }
    },
  };
}

interface LineParts {
  readonly kind: (typeof metricKinds)[keyof typeof metricKinds];
  readonly consumerBy: ConsumerIdentifier;
  readonly end: string;
}

function namedLine(
  { kind, consumerBy, end }: LineParts,
  prefix: string,
  scopeOf: ReturnType<typeof serviceScopes>,
): Metric['line'] {
  return (sample) => {
    const consumer = kind.needsConsumer ? consumerName(sample.consumer, consumerBy) : '';
    if (consumer === null || (kind.ofRoute && sample.route === null)) return null;
    const value = kind.value === null ? valueText(consumer) : kind.value(sample);
    if (typeof value === 'number' && value < 0) return null;
    const words = { consumer: namePart(consumer), route: sample.route?.id ?? '', workspace };
    const scope = kind.ofRoute ? prefix : scopeOf(sample.service);
    return `${scope}${kind.name(sample, words)}:${value}${end}`;
  };
}

function taggedLine(
  { kind, consumerBy, end }: LineParts,
  prefix: string,
  style: TagStyle,
  tagsOf: ReturnType<typeof sampleTags>,
): Metric['line'] {
  const name = prefix + kind.tagged;
  const behind = style === 'dogstatsd';
  return (sample) => {
    const consumer = kind.needsConsumer ? consumerName(sample.consumer, consumerBy) : '';
    if (consumer === null || (kind.ofRoute && sample.route === null)) return null;
    const value = kind.value === null ? valueText(consumer) : kind.value(sample);
    if (typeof value === 'number' && value < 0) return null;
    return behind ? `${name}:${value}${end}${tagsOf(sample)}` : `${name}${tagsOf(sample)}:${value}${end}`;
  };
}

interface Identifiers {
  readonly service: StatsdConfig['service_identifier_default'];
  readonly consumer: ConsumerIdentifier;
}

function identifiers(metric: MetricConfig, config: StatsdConfig): Identifiers {
  return {
    service: metric.service_identifier ?? config.service_identifier_default,
    consumer: metric.consumer_identifier ?? config.consumer_identifier_default,
  };
}

function keptBy<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

/** No ranges: every status. */
function statusRanges(ranges: readonly string[] | null): (status: number) => boolean {
  if (ranges === null || ranges.length === 0) return () => true;
  const bounds = ranges.map((range) => range.split('-').map(Number) as [number, number]);
  return (status) => bounds.some(([from, to]) => status >= from && status <= to);
}
