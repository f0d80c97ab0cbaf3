import { hostname } from 'node:os';
import type { Lease, LeaseRequest } from '../limits/limit-tools.ts';
import type { CallResult } from '../lookup/call-handler.ts';
import { ControlPlaneCalls } from '../lookup/control-plane-calls.ts';
import { EntityCache } from '../lookup/entity-cache.ts';
import type { TouchedRow } from '../lookup/questions.ts';
import type { PluginHost } from '../plugin-runner/instances.ts';
import type { PluginLogger, PluginNode, PluginSettings } from '../plugin-sdk/define-plugin.ts';
import type { ZoneRequest } from '../plugin-sdk/limits.ts';
import type { NameAnswer } from '../upstream/worker-names.ts';
import { zoneKey } from '../zones/zone-registry.ts';
import type { FromWorker, SnapshotDelta, WorkerBoot, ZoneChanges } from './messages.ts';
import { pluginSettings } from './plugin-settings.ts';
import { WorkerCounts } from './worker-counts.ts';

/** What a worker has for its plugins, and what the control plane sends for it. */
export class WorkerPluginHost implements PluginHost {
  readonly log: PluginLogger;
  readonly node: PluginNode;
  readonly settings: PluginSettings;
  readonly entities: EntityCache;
  readonly quarantine: Set<number>;
  readonly #calls: ControlPlaneCalls;
  readonly #counts: WorkerCounts;
  readonly #zones = new Map<string, SharedArrayBuffer>();

  constructor(boot: WorkerBoot, log: PluginLogger, post: (message: FromWorker) => void) {
    this.log = log;
    this.node = Object.freeze({ id: boot.nodeId, hostname: hostname(), pid: process.pid, worker: boot.worker });
    this.settings = pluginSettings(boot.settings);
    this.#calls = new ControlPlaneCalls((id, call) => post({ type: 'call', id, call }));
    this.entities = new EntityCache({ ask: (call) => this.#calls.ask(call) });
    this.#counts = new WorkerCounts(post);
    this.quarantine = new Set(boot.quarantine);
  }

  zone(plugin: string, request: ZoneRequest): SharedArrayBuffer | undefined {
    return this.#zones.get(zoneKey(plugin, request));
  }

  async lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]> {
    return (await this.#calls.ask({ method: 'lease', requests })) as readonly Lease[];
  }

  async resolve(name: string): Promise<NameAnswer> {
    return (await this.#calls.ask({ method: 'resolve', name })) as NameAnswer;
  }

  background(plugin: string, message: unknown): Promise<unknown> {
    return this.#calls.ask({ method: 'background', plugin, message });
  }

  count(plugin: string, name: string, by: number): void {
    this.#counts.add(plugin, name, by);
  }

  answered(id: number, result: CallResult): void {
    if (result.ok) this.#calls.answered(id, result.value, null);
    else this.#calls.answered(id, null, result.failure);
  }

  /** Before a delta is applied: its plugin instances find their zones. */
  addZones(zones: ZoneChanges | undefined): void {
    for (const [key, memory] of Object.entries(zones?.added ?? {})) this.#zones.set(key, memory);
  }

  /** After a delta was applied: no instance has them any more, and no request gets an answer from before it. */
  applied({ touched = [], forgetAll = false, version }: SnapshotDelta, zones: ZoneChanges | undefined): void {
    // Rows that come later have changed since.
    this.quarantine.clear();
    for (const key of zones?.dropped ?? []) this.#zones.delete(key);
    if (forgetAll) this.entities.forgetAll(version);
    else if (touched.length > 0) this.entities.touch(touched satisfies readonly TouchedRow[], version);
  }

  close(): void {
    this.#counts.flush();
  }
}
