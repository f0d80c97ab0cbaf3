import type { ConsumerIdentifier, Tag, TagStyle, TrafficSample } from '../../plugin-kit/telemetry/statsd/index.ts';
import { consumerName, namePart, tagText, valueText } from '../../plugin-kit/telemetry/statsd/index.ts';
import type { ServiceView } from '../../plugin-sdk/index.ts';
import type { StatsdConfig } from './schema.ts';

type ServiceIdentifier = StatsdConfig['service_identifier_default'];

/** The single workspace; its id is its name. */
export const workspace = 'default';

/** Prefix of all names, with a dot at its end. */
export function namePrefix({ prefix, hostname_in_prefix }: StatsdConfig, hostname: string): string {
  const node = hostname_in_prefix === true ? `node.${namePart(hostname)}.` : '';
  return `${prefix ?? 'kong'}.${node}`;
}

/** A service without a name is identified by its id. */
function serviceName(service: ServiceView, by: ServiceIdentifier): string {
  if (by === 'service_host') return service.host;
  if (by === 'service_name_or_host') return service.name ?? service.host;
  return (by === 'service_name' ? service.name : null) ?? service.id;
}

/** The scope of a service in names: cached until the service changes. */
export function serviceScopes(prefix: string, by: ServiceIdentifier): (service: ServiceView | null) => string {
  const kept = new WeakMap<ServiceView, string>();
  const unmatched = `${prefix}global.unmatched.`;
  return (service) => {
    if (service === null) return unmatched;
    let scope = kept.get(service);
    if (scope === undefined) {
      scope = `${prefix}service.${namePart(serviceName(service, by))}.`;
      kept.set(service, scope);
    }
    return scope;
  };
}

/** The tags of a sample, made once for all metrics with the same tags. */
export function sampleTags(
  style: TagStyle,
  serviceBy: ServiceIdentifier,
  consumerBy: ConsumerIdentifier,
): (sample: TrafficSample) => string {
  let last: TrafficSample | null = null;
  let text = '';
  return (sample) => {
    if (sample === last) return text;
    const { service, route, consumer, status } = sample;
    const who = consumerName(consumer, consumerBy);
    const tags: Tag[] = [];
    if (service !== null) tags.push({ name: 'service', value: valueText(serviceName(service, serviceBy)) });
    if (route !== null) tags.push({ name: 'route', value: valueText(route.name ?? route.id) });
    if (who !== null) tags.push({ name: 'consumer', value: valueText(who) });
    tags.push({ name: 'workspace', value: workspace }, { name: 'status', value: String(status) });
    text = tagText(style, tags);
    last = sample;
    return text;
  };
}
