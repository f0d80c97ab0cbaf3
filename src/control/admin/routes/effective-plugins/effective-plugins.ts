import type { Row } from '../../../../shared/entities/entity.ts';
import { foreignId, isEnabled, text, texts } from '../../../../shared/entities/row-fields.ts';
import {
  afterConsumer,
  compareInstances,
  hasRequestProtocol,
  hasStreamProtocol,
  type InstanceScope,
  precedence,
  scopeKey,
} from '../../../../shared/plugin-plan/precedence.ts';
import type { StoreReader } from '../../../store/store.ts';

/** A configured plugin instance. */
export interface Instance extends InstanceScope {
  readonly id: string;
  readonly name: string;
  readonly label: string | null;
  readonly priority: number;
  /** Why it cannot be set up, so that it refuses all requests; null: it can. */
  readonly error: string | null;
}

export interface ShadowedInstance {
  readonly instance: Instance;
  /** Id of the instance that runs instead; null: it is off, or cannot apply. */
  readonly by: string | null;
  readonly because: string;
}

export interface EffectivePlugins {
  /** The name of the plugin that identifies the consumer; null: none does, or no consumer was chosen. */
  readonly authenticatedBy: string | null;
  /** Names of those that could. */
  readonly authenticators: readonly string[];
  /** What runs, in its order. */
  readonly running: readonly Instance[];
  readonly shadowed: readonly ShadowedInstance[];
}

export interface EffectivePluginsOptions {
  readonly reader: StoreReader;
  readonly route: Row;
  readonly consumerId: string | null;
  /** Name of the plugin that identifies the consumer; null: the first that can. */
  readonly authenticatedBy: string | null;
  readonly priorityOf: (plugin: string) => number | null;
  /** Whether the plugin identifies consumers. */
  readonly authenticates: (plugin: string) => boolean;
  /** Why the workers could not set up an instance; undefined: they could. */
  readonly failureOf: (id: string) => string | undefined;
}

/** Which instances run for requests of a route and a consumer, and which do not. The same rules as in the workers' plans. */
export async function effectivePlugins(options: EffectivePluginsOptions): Promise<EffectivePlugins> {
  const { route, consumerId } = options;
  const serviceId = foreignId(route, 'service');
  const scopes = precedence(route.id, serviceId, consumerId);
  const rows = (await Promise.all(scopes.map((scope) => rowsOf(options.reader, scope)))).flat();
  const applies = hasStreamProtocol(texts(route, 'protocols') ?? []) ? hasStreamProtocol : hasRequestProtocol;
  const candidates: Instance[] = [];
  const shadowed: ShadowedInstance[] = [];
  for (const row of rows) {
    const instance = instanceOf(row, options);
    const because = !isEnabled(row) ? 'disabled' : applies(texts(row, 'protocols') ?? []) ? null : 'other protocols';
    if (because === null) candidates.push(instance);
    else shadowed.push({ instance, by: null, because });
  }
  const anonymous = winners(candidates, precedence(route.id, serviceId, null));
  const authenticators = anonymous.filter(({ name }) => options.authenticates(name)).map(({ name }) => name);
  const authenticatedBy = consumerId === null ? null : (options.authenticatedBy ?? authenticators[0] ?? null);
  const current = anonymous.find(({ name }) => name === authenticatedBy) ?? null;
  const running = current === null ? anonymous : afterConsumer(anonymous, winners(candidates, scopes), current);
  const ids = new Set(running.map(({ id }) => id));
  for (const instance of candidates) {
    if (!ids.has(instance.id)) shadowed.push(shadowOf(instance, running, current));
  }
  return { authenticatedBy: current?.name ?? null, authenticators, running, shadowed: shadowed.toSorted(byInstance) };
}

/** One instance of each plugin at most: its scope is unique. */
function rowsOf(reader: StoreReader, { routeId, serviceId, consumerId }: InstanceScope): Promise<readonly Row[]> {
  return reader.list('plugins', {
    where: { route: routeId, service: serviceId, consumer: consumerId },
    limit: 1000,
  });
}

function instanceOf(row: Row, { priorityOf, failureOf }: EffectivePluginsOptions): Instance {
  const name = text(row, 'name') ?? '';
  const error = failureOf(row.id) ?? null;
  return {
    id: row.id,
    name,
    label: text(row, 'instance_name'),
    // An instance that cannot be set up refuses requests before any other runs.
    priority: error === null ? (priorityOf(name) ?? 0) : Number.MAX_SAFE_INTEGER,
    routeId: foreignId(row, 'route'),
    serviceId: foreignId(row, 'service'),
    consumerId: foreignId(row, 'consumer'),
    error,
  };
}

/** Of each plugin the instance of the first scope that has one, in the order in which they run. */
function winners(instances: readonly Instance[], scopes: readonly InstanceScope[]): readonly Instance[] {
  const byName = Map.groupBy(instances, ({ name }) => name);
  const keys = scopes.map(scopeKey);
  return [...byName.values()]
    .flatMap((own) => {
      const byScope = new Map(own.map((instance) => [scopeKey(instance), instance]));
      const key = keys.find((candidate) => byScope.has(candidate));
      return key === undefined ? [] : [byScope.get(key)!];
    })
    .toSorted(compareInstances);
}

function shadowOf(instance: Instance, running: readonly Instance[], current: Instance | null): ShadowedInstance {
  const winner = running.find(({ name }) => name === instance.name) ?? null;
  if (instance.consumerId !== null && current === null)
    return { instance, by: winner?.id ?? null, because: 'no plugin identifies the consumer' };
  if (instance.consumerId !== null && current !== null && compareInstances(instance, current) <= 0)
    return { instance, by: winner?.id ?? null, because: `runs before ${current.name} has identified the consumer` };
  return { instance, by: winner?.id ?? null, because: 'a more specific instance runs' };
}

function byInstance({ instance: a }: ShadowedInstance, { instance: b }: ShadowedInstance): number {
  return compareInstances(a, b) || scopeKey(a).localeCompare(scopeKey(b));
}
