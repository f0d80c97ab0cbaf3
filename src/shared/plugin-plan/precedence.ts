/** What a plugin instance is attached to; all null: global. */
export interface InstanceScope {
  readonly routeId: string | null;
  readonly serviceId: string | null;
  readonly consumerId: string | null;
}

/** Where an instance stands in the order of all phases. */
export interface RankedInstance {
  readonly name: string;
  readonly priority: number;
}

/** The single order of all phases: higher priority first, then the greater name. */
export function compareInstances(a: RankedInstance, b: RankedInstance): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  return a.name === b.name ? 0 : a.name < b.name ? 1 : -1;
}

/**
 * The scopes that apply to requests of these entities, from the most specific to the global one. Of the instances of a plugin
 * the one of the first scope runs. Scopes of absent entities are omitted.
 */
export function precedence(
  routeId: string | null,
  serviceId: string | null,
  consumerId: string | null,
): readonly InstanceScope[] {
  const r = routeId !== null;
  const s = serviceId !== null;
  const c = consumerId !== null;
  const scopes: InstanceScope[] = [];
  if (r && s && c) scopes.push({ routeId, serviceId, consumerId });
  if (r && c) scopes.push({ routeId, serviceId: null, consumerId });
  if (s && c) scopes.push({ routeId: null, serviceId, consumerId });
  if (r && s) scopes.push({ routeId, serviceId, consumerId: null });
  if (c) scopes.push({ routeId: null, serviceId: null, consumerId });
  if (r) scopes.push({ routeId, serviceId: null, consumerId: null });
  if (s) scopes.push({ routeId: null, serviceId, consumerId: null });
  scopes.push({ routeId: null, serviceId: null, consumerId: null });
  return scopes;
}

export function scopeKey({ routeId, serviceId, consumerId }: InstanceScope): string {
  return `${routeId ?? ''}|${serviceId ?? ''}|${consumerId ?? ''}`;
}

/**
 * The instances of a request after `current` has named the consumer. Kong looks up an instance when its plugin runs and keeps
 * it for all later phases. So plugins that ran before, `current` included, keep their instances, and the later ones are the
 * consumer's.
 */
export function afterConsumer<T extends RankedInstance>(
  before: readonly T[],
  after: readonly T[],
  current: RankedInstance,
): readonly T[] {
  return [
    ...before.filter((instance) => compareInstances(instance, current) <= 0),
    ...after.filter((instance) => compareInstances(instance, current) > 0),
  ];
}

const streams: ReadonlySet<string> = new Set(['tcp', 'tls', 'tls_passthrough', 'udp']);
const requests: ReadonlySet<string> = new Set(['http', 'https', 'grpc', 'grpcs']);

/** True for routes and plugin instances whose protocols are, at least in part, those of streams. */
export function hasStreamProtocol(protocols: readonly string[]): boolean {
  return protocols.some((protocol) => streams.has(protocol));
}

/** Whether an instance with these protocols runs for requests; also true without any. */
export function hasRequestProtocol(protocols: readonly string[]): boolean {
  return protocols.length === 0 || protocols.some((protocol) => requests.has(protocol));
}
