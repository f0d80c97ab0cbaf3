import type { Plugin, PluginScope } from '../../plugin-sdk/define-plugin.ts';
import type { SnapshotDelta, SnapshotFailure } from '../../shared/messages/messages.ts';
import type { AddressChanges } from '../../shared/messages/upstream-addresses.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import type { PluginHost } from '../plugin-runner/instances.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { TraceRule } from '../plugin-runner/trace-rule.ts';
import { wouldMatch } from '../router/explain-match.ts';
import type { IndexedRouter } from '../router/indexed-router.ts';
import type { RouteQuery } from '../router/router.ts';
import type { StreamRouter } from '../router/stream-router.ts';
import type { UpstreamTlsDefaults } from './build-tls.ts';
import { PluginSet } from './plugin-set.ts';
import type { RouteExplanation, RuntimeCertificate, RuntimeRoute, RuntimeService, RuntimeUpstream } from './runtime.ts';
import type { RuntimeStreamRoute, StreamSnapshot } from './runtime-stream.ts';
import { SnapshotTables, type TablesOptions } from './snapshot-tables.ts';

export interface SnapshotOptions {
  /** The shared state of backend addresses, common to all workers. */
  readonly zone: AddressZone;
  /** Default: the built-in authorities, and no certificate. */
  readonly upstreamTls?: UpstreamTlsDefaults;
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly host: PluginHost;
}

/**
 * The snapshot of one worker. A change takes effect in one turn of the event loop, so that a request sees the config before it or
 * after it: a small one is applied in place and rebuilds only what it affects (`apply`); for a large one new tables are built between
 * requests, and replace the old ones at the end (`applyInPieces`).
 */
export class LiveSnapshot implements StreamSnapshot {
  version = 0;
  /** Replaced together with the tables. */
  router: IndexedRouter<RuntimeRoute>;
  streams: StreamRouter<RuntimeStreamRoute>;
  readonly #options: TablesOptions;
  readonly #plugins: PluginSet;
  readonly #pluginFailures = new Map<string, SnapshotFailure>();
  #tables: SnapshotTables;
  #closed = false;

  constructor(options: SnapshotOptions) {
    this.#plugins = new PluginSet(options.plugins, options.host);
    this.#options = {
      zone: options.zone,
      upstreamTls: options.upstreamTls ?? { authorities: null, clientCertificate: null },
      plugins: this.#plugins,
    };
    this.#tables = new SnapshotTables(this.#options);
    this.router = this.#tables.router;
    this.streams = this.#tables.streams;
  }

  get globalPlan(): PluginPlan {
    return this.#plugins.globalPlan;
  }

  get tracing(): TraceRule | null {
    return this.#plugins.tracing;
  }

  planFor(route: RuntimeRoute, consumerId: string): PluginPlan {
    const { builder } = this.#plugins;
    return builder.mentions(consumerId) ? builder.planFor(route.id, route.service?.id ?? null, consumerId) : route.plan;
  }

  certificateFor(serverName: string): RuntimeCertificate | null {
    return this.#tables.certificates.find(serverName);
  }

  upstream(name: string): RuntimeUpstream | null {
    return this.#tables.upstreams.byName(name);
  }

  service(idOrName: string): RuntimeService | null {
    return this.#tables.services.find(idOrName);
  }

  get choosesByKeyType(): boolean {
    return this.#tables.certificates.choosesByKeyType;
  }

  ocspResponse(certificate: Uint8Array): Uint8Array | null {
    return this.#tables.certificates.ocspResponse(certificate);
  }

  get routesByServerName(): boolean {
    return this.#tables.namedRoutes.size > 0;
  }

  get wantsClientCertificates(): boolean {
    return this.#plugins.wantsClientCertificates;
  }

  explainRoute(query: RouteQuery, most: number): RouteExplanation {
    const disabled: RuntimeRoute[] = [];
    for (const route of this.#tables.routes.resting()) {
      if (disabled.length === most) break;
      if (!route.refused && wouldMatch(route, query)) disabled.push(route);
    }
    return { ...this.router.explain(query, most), disabled };
  }

  pluginScope(instanceId: string): readonly PluginScope[] {
    return this.#plugins.builder.scopeOf(instanceId);
  }

  /**
   * Applies the change, whatever its content; never throws. Returns all entities that are invalid now. `addresses`: the
   * resulting addresses of upstreams.
   */
  apply(delta: SnapshotDelta, addresses: AddressChanges | null = null): readonly SnapshotFailure[] {
    if (addresses !== null) this.#tables.upstreams.setAddresses(addresses);
    if (delta.full) this.#removeAbsentPlugins(delta);
    for (const id of delta.removes.plugins ?? []) this.#removePlugin(id);
    for (const _ of this.#tables.apply(delta));
    this.#upsertPlugins(delta);
    this.version = delta.version;
    return this.#failures();
  }

  /**
   * The same for a large change: `pause` is awaited whenever it has worked for some milliseconds, and until the promise resolves the
   * config from before is in effect. No other change may be applied meanwhile.
   */
  async applyInPieces(
    delta: SnapshotDelta,
    addresses: AddressChanges | null,
    pause: () => Promise<void>,
  ): Promise<readonly SnapshotFailure[]> {
    const next = new SnapshotTables(this.#options);
    await inPieces(next.fill(this.#tables, delta, addresses), pause);
    await inPieces(this.#plugins.prepare(delta.upserts.plugins ?? []), pause);
    // From here to the end nothing waits.
    if (this.#closed) {
      this.#plugins.dropPrepared();
      return [];
    }
    this.#tables = next;
    this.router = next.router;
    this.streams = next.streams;
    if (delta.full) this.#removeAbsentPlugins(delta);
    for (const id of delta.removes.plugins ?? []) this.#removePlugin(id);
    this.#upsertPlugins(delta);
    this.version = delta.version;
    return this.#failures();
  }

  /** Exchanges the instances of these plugins, whose code has changed. Throws a `SetupFailure`; then nothing is exchanged. Returns all invalid entities. */
  replacePlugins(names: ReadonlySet<string>): readonly SnapshotFailure[] {
    for (const id of this.#plugins.replacePlugins(names)) this.#pluginFailures.delete(id);
    return this.#failures();
  }

  /** The addresses of upstreams have changed, but not the config. */
  updateAddresses(addresses: AddressChanges): void {
    this.#tables.updateAddresses(addresses);
  }

  /** Resolves when all plugin instances have delivered their queued data, or after so many milliseconds. */
  drain(timeout: number): Promise<void> {
    return this.#plugins.drain(timeout);
  }

  /** Disposes of the plugin instances. */
  close(): void {
    this.#closed = true;
    this.#plugins.close();
  }

  #removeAbsentPlugins(delta: SnapshotDelta): void {
    const present = new Set((delta.upserts.plugins ?? []).map((row) => row.id));
    for (const id of [...this.#plugins.ids()]) if (!present.has(id)) this.#removePlugin(id);
    for (const id of [...this.#pluginFailures.keys()]) if (!present.has(id)) this.#pluginFailures.delete(id);
  }

  #removePlugin(id: string): void {
    this.#pluginFailures.delete(id);
    this.#plugins.remove(id);
  }

  #upsertPlugins(delta: SnapshotDelta): void {
    for (const row of delta.upserts.plugins ?? []) {
      try {
        this.#plugins.upsert(row);
        this.#pluginFailures.delete(row.id);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#pluginFailures.set(row.id, { entity: 'plugins', id: row.id, reason });
      }
    }
  }

  #failures(): readonly SnapshotFailure[] {
    return [...this.#tables.failures.values(), ...this.#pluginFailures.values()];
  }
}

/** Milliseconds of work between two pauses: a request waits no longer for it. */
const piece = 2;

async function inPieces(steps: Generator<void>, pause: () => Promise<void>): Promise<void> {
  let end = performance.now() + piece;
  for (const _ of steps) {
    if (performance.now() < end) continue;
    await pause();
    end = performance.now() + piece;
  }
}
