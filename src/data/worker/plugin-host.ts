import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { loadNow } from '../../plugin-kit/runtime/load-now.ts';
import type { PluginLogger, PluginNode, PluginSettings } from '../../plugin-sdk/tools.ts';
import type { ZoneRequest } from '../../plugin-sdk/zones.ts';
import type { Lease, LeaseRequest } from '../../shared/limits/limit-tools.ts';
import type { CallResult, TouchedRow } from '../../shared/lookup/calls.ts';
import { EntityCache } from '../../shared/lookup/entity-cache.ts';
import type { FromWorker, SnapshotDelta, WorkerBoot, ZoneChanges } from '../../shared/messages/messages.ts';
import type { NameAnswer } from '../../shared/messages/name-changes.ts';
import { pluginSettings } from '../../shared/messages/plugin-settings.ts';
import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import { type PluginMeter, PluginMeters } from '../../shared/zones/plugin-meter.ts';
import { zoneKey } from '../../shared/zones/zone-registry.ts';
import type { DevelopmentPages } from '../development/development-pages.ts';
import type { PluginHost } from '../plugin-runner/instances.ts';
import { ControlPlaneCalls } from './control-plane-calls.ts';
import { hurryControlPlane } from './hurry-control-plane.ts';
import { WorkerCounts } from './worker-counts.ts';

/** What a worker provides to its plugins, and what the control plane sends for them. */
export class WorkerPluginHost implements PluginHost {
  readonly log: PluginLogger;
  readonly node: PluginNode;
  readonly settings: PluginSettings;
  readonly entities: EntityCache;
  readonly quarantine: Set<number>;
  readonly development?: DevelopmentPages;
  readonly #calls: ControlPlaneCalls;
  readonly #counts: WorkerCounts;
  readonly #meters: PluginMeters;
  readonly #zones = new Map<string, SharedArrayBuffer>();
  /** Requested, and not answered yet. */
  readonly #leases = new Set<Promise<unknown>>();

  constructor(boot: WorkerBoot, log: PluginLogger, post: (message: FromWorker) => void) {
    this.log = log;
    this.node = Object.freeze({ id: boot.nodeId, hostname: hostname(), pid: process.pid, worker: boot.worker });
    this.settings = pluginSettings(boot.settings);
    const hurry = hurryControlPlane(boot.vitals);
    this.#calls = new ControlPlaneCalls((id, call) => {
      hurry();
      post({ type: 'call', id, call });
    });
    this.entities = new EntityCache({ call: (call) => this.#calls.request(call) });
    this.#counts = new WorkerCounts(post);
    this.#meters = new PluginMeters(boot.pluginMeter, boot.worker);
    this.quarantine = new Set(boot.quarantine);
    if (boot.development !== undefined) {
      const { DevelopmentPages: Pages } = loadNow<typeof import('../development/development-pages.ts')>(
        import.meta.url,
        '../development/development-pages.ts',
      );
      this.development = new Pages(boot.development);
    }
  }

  zone(plugin: string, request: ZoneRequest): SharedArrayBuffer | undefined {
    return this.#zones.get(zoneKey(plugin, request));
  }

  async lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]> {
    const leases = this.#calls.request({ method: 'lease', requests });
    this.#leases.add(leases);
    try {
      return (await leases) as readonly Lease[];
    } finally {
      this.#leases.delete(leases);
    }
  }

  /** Resolves when all leases have arrived, and limiters that are closed by now have given them back; or after `timeout` ms. */
  async leasesArrived(timeout: number): Promise<void> {
    if (this.#leases.size === 0) return;
    await awaitWithTimeout(Promise.allSettled(this.#leases), timeout);
    await nextTurn();
  }

  async resolve(name: string): Promise<NameAnswer> {
    return (await this.#calls.request({ method: 'resolve', name })) as NameAnswer;
  }

  background(plugin: string, message: unknown): Promise<unknown> {
    return this.#calls.request({ method: 'background', plugin, message });
  }

  count(plugin: string, name: string, by: number, instance: string): void {
    this.#counts.add(plugin, name, by, instance);
  }

  meter(plugin: string): PluginMeter {
    return this.#meters.of(plugin);
  }

  answered(id: number, result: CallResult): void {
    if (result.ok) this.#calls.answered(id, result.value, null);
    else this.#calls.answered(id, null, result.failure);
  }

  /** Before a delta is applied: its plugin instances find their zones. */
  addZones(zones: ZoneChanges | undefined): void {
    for (const [key, memory] of Object.entries(zones?.added ?? {})) this.#zones.set(key, memory);
  }

  /** After that: no instance uses the removed zones any more. */
  dropZones(zones: ZoneChanges | undefined): void {
    for (const key of zones?.dropped ?? []) this.#zones.delete(key);
  }

  /**
   * After a delta was applied: no instance uses the removed zones any more, and no request gets a cached answer from
   * before it.
   */
  applied({ touched = [], invalidateAll = false, version }: SnapshotDelta, zones: ZoneChanges | undefined): void {
    // Rows that arrive later have changed since.
    this.quarantine.clear();
    this.dropZones(zones);
    if (invalidateAll) this.entities.invalidateAll(version);
    else if (touched.length > 0) this.entities.touch(touched satisfies readonly TouchedRow[], version);
  }

  close(): void {
    this.#counts.flush();
  }
}
