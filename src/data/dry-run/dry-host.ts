import { hostname } from 'node:os';
import type { EntityAccess } from '../../plugin-sdk/entity-access.ts';
import type { PluginLogger, PluginNode, PluginSettings } from '../../plugin-sdk/tools.ts';
import type { ZoneRequest } from '../../plugin-sdk/zones.ts';
import { grantLease } from '../../shared/limits/cluster/grant-lease.ts';
import type { Lease, LeaseRequest } from '../../shared/limits/limit-tools.ts';
import { EntityCache } from '../../shared/lookup/entity-cache.ts';
import type { DryRunBoot, FromDryRun, ToDryRun } from '../../shared/messages/dry-run.ts';
import { pluginSettings } from '../../shared/messages/plugin-settings.ts';
import { type ZoneRegistry, zoneKey } from '../../shared/zones/zone-registry.ts';
import type { PluginHost } from '../plugin-runner/instances.ts';
import { ControlPlaneCalls } from '../worker/control-plane-calls.ts';
import { outside, type PluginWatch } from './watched-plugins.ts';

const silent: PluginLogger = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} });

/**
 * What a dry run provides to its plugins: memory, counters and leases of its own, and lookups of consumers and credentials. A plugin that
 * writes an entity, or asks its background part, makes the request undecided.
 */
export class DryHost implements PluginHost {
  readonly log = silent;
  readonly node: PluginNode;
  readonly settings: PluginSettings;
  readonly entities: EntityAccess;
  readonly #calls: ControlPlaneCalls;
  readonly #zones: ZoneRegistry;
  readonly #watch: PluginWatch;
  readonly #counters = new Map<string, number>();
  #memory: Readonly<Record<string, SharedArrayBuffer>> | null = null;

  constructor(boot: DryRunBoot, watch: PluginWatch, zones: ZoneRegistry, post: (message: FromDryRun) => void) {
    this.node = Object.freeze({ id: boot.nodeId, hostname: hostname(), pid: process.pid, worker: 0 });
    this.settings = pluginSettings(boot.settings);
    this.#watch = watch;
    this.#zones = zones;
    this.#calls = new ControlPlaneCalls((id, call) => post({ type: 'call', id, call }));
    const cache = new EntityCache({ call: (call) => this.#calls.request(call) });
    this.entities = {
      find: (entity, field, value) => cache.find(entity, field, value),
      list: (entity, field, id) => cache.list(entity, field, id),
      consumer: (idOrName) => cache.consumer(idOrName),
      insert: () => this.#never('It would store an entity, which a dry run does not.'),
      update: () => this.#never('It would change an entity, which a dry run does not.'),
      delete: () => this.#never('It would delete an entity, which a dry run does not.'),
    };
  }

  zone(plugin: string, request: ZoneRequest): SharedArrayBuffer | undefined {
    this.#memory ??= this.#zones.all();
    return this.#memory[zoneKey(plugin, request)];
  }

  async lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]> {
    return requests.map((request) => this.#lease(request));
  }

  count(): void {}

  background(): Promise<never> {
    return this.#never(outside);
  }

  answered({ id, result }: ToDryRun): void {
    if (result.ok) this.#calls.answered(id, result.value, null);
    else this.#calls.answered(id, null, result.failure);
  }

  #lease(request: LeaseRequest): Lease {
    const usedOf = (key: string, start: number): number => this.#counters.get(`${key}@${start}`) ?? 0;
    const { windows } = request;
    const before = windows.map(({ key, previous }) => (previous === null ? 0 : usedOf(key, previous.windowStart)));
    const used = windows.map(({ key, windowStart }) => usedOf(key, windowStart));
    const lease = grantLease(request, used, before);
    windows.forEach(({ key, windowStart }, at) => {
      this.#counters.set(`${key}@${windowStart}`, lease.used[at] ?? 0);
    });
    return lease;
  }

  #never(reason: string): Promise<never> {
    this.#watch.attempted(reason);
    return new Promise(() => {});
  }
}
