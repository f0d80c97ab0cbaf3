import { createRequire } from 'node:module';
import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { EntityAccess } from '../../plugin-sdk/entity-access.ts';
import type { LimitTools } from '../../plugin-sdk/limits.ts';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import type { PluginLogger, PluginNode, PluginSettings, PluginTools } from '../../plugin-sdk/tools.ts';
import type { ZoneRequest } from '../../plugin-sdk/zones.ts';
import type { Lease, LeaseRequest } from '../../shared/limits/limit-tools.ts';
import { currentConfig } from '../../shared/plugin-loader/config-defaults.ts';
import { rejectVaultReferences } from '../../shared/plugin-loader/reject-vault-references.ts';
import { type PluginMeter, privateMeter } from '../../shared/zones/plugin-meter.ts';
import { entityMark, PluginPhase } from '../../shared/zones/worker-vitals.ts';
import type { DevelopmentPages } from '../development/development-pages.ts';
import { currentRequestId, enterCall, leaveCall } from './current-request.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { PluginInstance } from './plan.ts';
import { reportFailure } from './report-failure.ts';

/** The parts of a stored plugin row that matter here; `config` is validated and has its defaults. */
export interface PluginRow {
  readonly id: string;
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** What a worker provides to its plugins. */
export interface PluginHost {
  readonly log: PluginLogger;
  readonly node: PluginNode;
  readonly settings: PluginSettings;
  readonly entities: EntityAccess;
  /** The table that was created for this declaration of the plugin; undefined: none. */
  zone(plugin: string, request: ZoneRequest): SharedArrayBuffer | undefined;
  lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]>;
  count(plugin: string, name: string, by: number, instance: string): void;
  background(plugin: string, message: unknown): Promise<unknown>;
  /** Where what the plugin does is counted. Without it nobody reads the counts. */
  meter?(plugin: string): PluginMeter;
  /** Marks of instances that are not set up again, because their `setup` did not return in another worker. */
  readonly quarantine?: ReadonlySet<number>;
  /** Only with `sluicegate dev`. */
  readonly development?: DevelopmentPages;
}

/** Sets up a configured plugin. Throws an `Error` that says what is wrong with the row. */
export function createInstance(plugins: ReadonlyMap<string, Plugin>, row: PluginRow, host: PluginHost): PluginInstance {
  const plugin = plugins.get(row.name);
  if (plugin === undefined) throw new Error(`plugin '${row.name}' is not enabled: add it to the 'plugins' setting`);
  rejectVaultReferences(row.config);
  const config = deepFreeze(structuredClone(currentConfig(plugin, row.config)));
  const log = namedLogger(host.log, { plugin: row.name, plugin_instance: row.id });
  const mark = entityMark(row.id);
  if (host.quarantine?.has(mark))
    throw new Error(`setup of plugin '${row.name}' did not return; change the plugin to retry`);
  const budget = plugin.timeBudget(config);
  const phases = setUp(plugin, config, mark, toolsFor(plugin, config, row.id, log, host));
  return Object.freeze({
    id: row.id,
    mark,
    name: plugin.name,
    priority: plugin.priority,
    phases: host.development?.guarded(plugin.name, phases) ?? phases,
    needs: plugin.needs(config),
    log,
    meter: host.meter?.(row.name) ?? privateMeter(),
    budget,
    lease: phases.dispose === undefined ? null : { users: 0, retired: false },
    ...(host.development && { development: host.development }),
  });
}

function setUp(plugin: Plugin, config: unknown, mark: number, tools: PluginTools): PluginPhases {
  enterCall(PluginPhase.setup, mark, 0);
  try {
    return plugin.setup(config, tools);
  } finally {
    leaveCall();
  }
}

function toolsFor(
  plugin: Plugin,
  config: unknown,
  instanceId: string,
  log: PluginLogger,
  host: PluginHost,
): PluginTools {
  const requests = plugin.zones(config, instanceId);
  const zone = (name: string): SharedArrayBuffer => {
    const request = requests.find((one) => one.name === name);
    const memory = request === undefined ? undefined : host.zone(plugin.name, request);
    if (memory === undefined) throw new Error(`the plugin did not declare a zone '${name}'`);
    return memory;
  };
  let limits: LimitTools | null = null;
  return Object.freeze({
    log,
    instanceId,
    node: host.node,
    settings: host.settings,
    entities: host.entities,
    get limits() {
      limits ??= limitTools().createLimitTools({
        worker: host.node.worker,
        zone,
        lease: (wishes) => host.lease(wishes),
      });
      return limits;
    },
    zone,
    count: (name: string, by = 1) => host.count(plugin.name, countName(name), countable(by), instanceId),
    background: (message: unknown) => host.background(plugin.name, message),
  });
}

/** Characters. */
const maxCountName = 100;

/** Counts are sent between threads and summed up: whatever a plugin passes becomes a name and a number here. */
function countName(name: unknown): string {
  return String(name).slice(0, maxCountName);
}

function countable(by: unknown): number {
  return typeof by === 'number' && Number.isFinite(by) ? by : 0;
}

type Limits = typeof import('../../shared/limits/limit-tools.ts');

let limitModule: Limits | null = null;

/** Loaded by the first plugin that limits anything. */
function limitTools(): Limits {
  limitModule ??= createRequire(import.meta.url)('../../shared/limits/limit-tools.ts') as Limits;
  return limitModule;
}

/**
 * Call this when no plan contains the instance any more: it is disposed of when the last request that uses it is done.
 */
export function retireInstance(instance: PluginInstance): void {
  const { lease } = instance;
  if (lease === null || lease.retired) return;
  lease.retired = true;
  if (lease.users === 0) dispose(instance);
}

/** A request starts to use the instances. */
export function holdInstances(instances: readonly PluginInstance[]): void {
  for (const { lease } of instances) if (lease !== null) lease.users++;
}

/** A request is done with the instances. */
export function releaseInstances(instances: readonly PluginInstance[]): void {
  for (const instance of instances) {
    const { lease } = instance;
    if (lease !== null && --lease.users === 0 && lease.retired) dispose(instance);
  }
}

function dispose(instance: PluginInstance): void {
  enterCall(PluginPhase.dispose, instance.mark, 0);
  try {
    instance.phases.dispose?.();
  } catch (error) {
    reportFailure(instance, 'dispose', error);
  } finally {
    leaveCall();
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Lines name the instance that logs them and, in a phase, the request. */
function namedLogger(log: PluginLogger, own: Fields): PluginLogger {
  const all = (fields: Fields | undefined): Fields => {
    const id = currentRequestId();
    return id === null ? { ...own, ...fields } : { ...own, request_id: id, ...fields };
  };
  return Object.freeze({
    debug: (message: string, fields?: Fields) => log.debug(message, all(fields)),
    info: (message: string, fields?: Fields) => log.info(message, all(fields)),
    warn: (message: string, fields?: Fields) => log.warn(message, all(fields)),
    error: (message: string, fields?: Fields) => log.error(message, all(fields)),
  });
}
