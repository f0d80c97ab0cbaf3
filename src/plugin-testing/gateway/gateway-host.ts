import type { PluginHost } from '../../data/plugin-runner/instances.ts';
import type { PluginLogger, PluginNode, PluginSettings } from '../../plugin-sdk/tools.ts';
import type { ZoneRequest } from '../../plugin-sdk/zones.ts';
import type { Lease, LeaseRequest } from '../../shared/limits/limit-tools.ts';
import type { Call } from '../../shared/lookup/calls.ts';
import { EntityCache } from '../../shared/lookup/entity-cache.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { type ZoneRegistry, zoneKey } from '../../shared/zones/zone-registry.ts';
import { testLeases, testNode } from '../test-host.ts';
import type { MemoryStore } from './memory-store.ts';

export interface GatewayHostOptions {
  readonly log: PluginLogger;
  readonly settings: PluginSettings;
  readonly store: MemoryStore;
  readonly zones: ZoneRegistry;
  readonly counts: Map<string, number>;
  readonly background: (plugin: string, message: unknown) => unknown;
}

/** What a test gateway provides to its plugins. Lookups take the way of a worker: the first returns a promise, later ones are cached. */
export class GatewayHost implements PluginHost {
  readonly log: PluginLogger;
  readonly node: PluginNode = testNode;
  readonly settings: PluginSettings;
  readonly entities: EntityCache;
  /** Version of the config that was applied last. */
  version = 0;
  readonly #options: GatewayHostOptions;
  readonly #leases = testLeases();

  constructor(options: GatewayHostOptions) {
    this.#options = options;
    this.log = options.log;
    this.settings = options.settings;
    this.entities = new EntityCache({ call: (call) => this.#call(call) });
  }

  zone(plugin: string, request: ZoneRequest): SharedArrayBuffer | undefined {
    return this.#options.zones.all()[zoneKey(plugin, request)];
  }

  async lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]> {
    return requests.map(this.#leases);
  }

  count(plugin: string, name: string, by: number): void {
    const key = `${plugin}.${name}`;
    this.#options.counts.set(key, (this.#options.counts.get(key) ?? 0) + by);
  }

  async background(plugin: string, message: unknown): Promise<unknown> {
    return (await this.#options.background(plugin, message)) ?? null;
  }

  /** A change was applied: no later request gets an answer from before it. */
  applied({ touched = [], version }: SnapshotDelta): void {
    this.version = version;
    if (touched.length > 0) this.entities.touch(touched, version);
  }

  async #call(call: Call): Promise<unknown> {
    const { store } = this.#options;
    switch (call.method) {
      case 'find':
        return store.find(call.question, this.version);
      case 'insert':
        return store.insert(call.entity, call.fields);
      case 'update':
        return store.update(call.entity, call.id, call.fields);
      case 'delete':
        return store.delete(call.entity, call.id);
      default:
        throw new TypeError(`a test gateway does not answer '${call.method}'`);
    }
  }
}
