import {
  consumerName,
  isSampled,
  lineEnd,
  namePart,
  type TrafficSample,
  trafficValues,
  valueText,
} from '../../plugin-kit/telemetry/statsd/index.ts';
import type { DatadogConfig } from './schema.ts';

type MetricConfig = DatadogConfig['metrics'][number];
type ServiceKey = NonNullable<TrafficSample['service']>;

/** Writes the lines of one request in DogStatsD's form. */
export interface DatadogLines {
  /** Requests whose random number is not below this have no line. */
  readonly share: number;
  write(sample: TrafficSample, draw: number, add: (line: string) => void): void;
}

/** Precomputes everything that is the same for all requests. */
export function datadogLines(config: DatadogConfig): DatadogLines {
  const serviceTag = `${config.service_name_tag ?? 'name'}:`;
  const statusTag = `,${config.status_tag ?? 'status'}:`;
  const services = new WeakMap<ServiceKey, string>();
  const metrics = config.metrics.map((metric) => compile(metric, config));

  /** A request without a service has an empty name, as in Kong. */
  const serviceText = (service: ServiceKey | null): string => {
    if (service === null) return serviceTag;
    let text = services.get(service);
    if (text === undefined) {
      text = serviceTag + namePart(service.name ?? service.host);
      services.set(service, text);
    }
    return text;
  };

  return {
    share: metrics.reduce((most, { rate }) => Math.max(most, rate), 0),
    write(sample, draw, add) {
      const tags = serviceText(sample.service) + statusTag + sample.status;
      for (const metric of metrics) {
        if (draw >= metric.rate) continue;
        const value = metric.value(sample);
        if (value >= 0) add(metric.begin + value + metric.middle + tags + metric.consumer(sample) + metric.end);
      }
    },
  };
}

function compile(metric: MetricConfig, config: DatadogConfig) {
  const { name, value } = trafficValues[metric.name];
  const type = metric.stat_type;
  const rate = isSampled(type) ? (metric.sample_rate ?? 1) : 1;
  const by = metric.consumer_identifier;
  const consumerTag = `,${config.consumer_tag ?? 'consumer'}:`;
  const consumer = ({ consumer: who }: TrafficSample): string => {
    const known = by === null ? null : consumerName(who, by);
    return known === null ? '' : consumerTag + valueText(known);
  };
  return {
    rate,
    value,
    begin: `${config.prefix ?? 'kong'}.${name}:`,
    middle: `${lineEnd(type, rate)}|#`,
    consumer,
    end: (metric.tags ?? []).map((tag) => `,${tag}`).join(''),
  };
}
