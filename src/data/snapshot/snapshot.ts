import type { Plugin, PluginScope } from '../../plugin-sdk/define-plugin.ts';
import type { Row } from '../../shared/entities/entity.ts';
import { text, texts } from '../../shared/entities/row-fields.ts';
import type { SnapshotDelta, SnapshotEntity, SnapshotFailure } from '../../shared/messages/messages.ts';
import type { AddressChanges } from '../../shared/messages/upstream-addresses.ts';
import { splitHostPort } from '../../shared/util/net/host-port.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import type { PluginHost } from '../plugin-runner/instances.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { TraceRule } from '../plugin-runner/trace-rule.ts';
import { wouldMatch } from '../router/explain-match.ts';
import { createRouter, type IndexedRouter } from '../router/indexed-router.ts';
import type { RouteQuery } from '../router/router.ts';
import { StreamRouter } from '../router/stream-router.ts';
import { isHttpRoute, LiveRoute } from './build-route.ts';
import { appliesToStreams, LiveStreamRoute } from './build-stream-route.ts';
import type { UpstreamTlsDefaults } from './build-tls.ts';
import { CertificateTable } from './certificate-table.ts';
import { PluginSet } from './plugin-set.ts';
import { RouteTable } from './route-table.ts';
import type { RouteExplanation, RuntimeCertificate, RuntimeRoute, RuntimeService, RuntimeUpstream } from './runtime.ts';
import type { RuntimeStreamRoute, StreamSnapshot } from './runtime-stream.ts';
import { ServiceTable } from './service-table.ts';
import { UpstreamTable } from './upstream-table.ts';

export interface SnapshotOptions {
  /** The shared state of backend addresses, common to all workers. */
  readonly zone: AddressZone;
  /** Default: the built-in authorities, and no certificate. */
  readonly upstreamTls?: UpstreamTlsDefaults;
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly host: PluginHost;
}

/** The common interface of the tables. `upsert` may throw: the entity is then recorded as failed. */
interface Table {
  ids(): Iterable<string>;
  upsert(row: Row): void;
  remove(id: string): void;
}

/** Entities in the order in which they depend on each other. */
const order: readonly SnapshotEntity[] = [
  'certificates',
  'ca_certificates',
  'snis',
  'upstreams',
  'targets',
  'services',
  'routes',
  'plugins',
];

/**
 * The snapshot of one worker. `apply` is synchronous, so that a request sees the config before a delta or after it, and
 * it rebuilds only what the delta affects.
 */
export class LiveSnapshot implements StreamSnapshot {
  version = 0;
  readonly router: IndexedRouter<RuntimeRoute>;
  readonly streams = new StreamRouter<RuntimeStreamRoute>();
  readonly #certificates = new CertificateTable();
  readonly #authorities = new Map<string, Row>();
  readonly #plugins: PluginSet;
  readonly #upstreams: UpstreamTable;
  readonly #targets = new Set<string>();
  /** Routes with `snis`. */
  readonly #namedRoutes = new Set<string>();
  readonly #services: ServiceTable;
  readonly #routes: RouteTable<LiveRoute>;
  readonly #streamRoutes: RouteTable<LiveStreamRoute>;
  readonly #tables: Readonly<Record<SnapshotEntity, Table>>;
  readonly #failures = new Map<string, SnapshotFailure>();

  constructor(options: SnapshotOptions) {
    this.router = createRouter<RuntimeRoute>();
    this.#upstreams = new UpstreamTable(options.zone);
    this.#plugins = new PluginSet(options.plugins, options.host);
    this.#services = new ServiceTable({
      defaults: options.upstreamTls ?? { authorities: null, clientCertificate: null },
      upstream: (name) => this.#upstreams.byName(name),
      certificate: (id) => this.#certificates.certificateRow(id),
      authority: (id) => this.#authorities.get(id),
    });
    this.#routes = new RouteTable<LiveRoute>(this.router, this.#services, (row) =>
      isHttpRoute(row) ? new LiveRoute(row, this.#plugins) : null,
    );
    this.#streamRoutes = new RouteTable<LiveStreamRoute>(this.streams, this.#services, (row) =>
      appliesToStreams(row) ? new LiveStreamRoute(row, this.#plugins.streams) : null,
    );
    this.#tables = this.#makeTables();
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
    return this.#certificates.find(serverName);
  }

  upstream(name: string): RuntimeUpstream | null {
    return this.#upstreams.byName(name);
  }

  service(idOrName: string): RuntimeService | null {
    return this.#services.find(idOrName);
  }

  get choosesByKeyType(): boolean {
    return this.#certificates.choosesByKeyType;
  }

  ocspResponse(certificate: Uint8Array): Uint8Array | null {
    return this.#certificates.ocspResponse(certificate);
  }

  get routesByServerName(): boolean {
    return this.#namedRoutes.size > 0;
  }

  get wantsClientCertificates(): boolean {
    return this.#plugins.wantsClientCertificates;
  }

  explainRoute(query: RouteQuery, most: number): RouteExplanation {
    const disabled: RuntimeRoute[] = [];
    for (const route of this.#routes.resting()) {
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
    if (addresses !== null) this.#upstreams.setAddresses(addresses);
    if (delta.full) this.#removeAbsent(delta);
    for (const entity of order.toReversed()) {
      for (const id of delta.removes[entity] ?? []) this.#remove(entity, id);
    }
    for (const entity of order) {
      for (const row of delta.upserts[entity] ?? [])
        this.#attempt(entity, row.id, () => this.#tables[entity].upsert(row));
      if (entity === 'targets') this.#rebuildUpstreams();
      if (entity === 'services') this.#rebuildServices();
    }
    this.version = delta.version;
    return [...this.#failures.values()];
  }

  /** The addresses of upstreams have changed, but not the config. */
  updateAddresses(addresses: AddressChanges): void {
    this.#upstreams.setAddresses(addresses);
    this.#rebuildUpstreams();
    this.#rebuildServices();
  }

  /** Resolves when all plugin instances have delivered their queued data, or after so many milliseconds. */
  drain(timeout: number): Promise<void> {
    return this.#plugins.drain(timeout);
  }

  /** Disposes of the plugin instances. */
  close(): void {
    this.#plugins.close();
  }

  #removeAbsent(delta: SnapshotDelta): void {
    for (const entity of order.toReversed()) {
      const present = new Set((delta.upserts[entity] ?? []).map((row) => row.id));
      for (const id of [...this.#tables[entity].ids()]) {
        if (!present.has(id)) this.#remove(entity, id);
      }
    }
    for (const [key, failure] of this.#failures) {
      if (!delta.upserts[failure.entity]?.some((row) => row.id === failure.id)) this.#failures.delete(key);
    }
  }

  #remove(entity: SnapshotEntity, id: string): void {
    this.#attempt(entity, id, () => this.#tables[entity].remove(id));
  }

  /** Upstreams are built once, however many of their targets a delta contains. */
  #rebuildUpstreams(): void {
    for (const id of this.#upstreams.takeDirty()) {
      this.#attempt('upstreams', id, () => {
        for (const name of this.#upstreams.rebuild(id)) this.#services.touch(name);
      });
    }
  }

  #rebuildServices(): void {
    for (const id of this.#services.takeDirty()) {
      this.#attempt('services', id, () => {
        try {
          this.#services.rebuild(id);
        } finally {
          const attempt = (routeId: string, work: () => void): void => this.#attempt('routes', routeId, work);
          this.#routes.rebind(id, attempt);
          this.#streamRoutes.rebind(id, attempt);
        }
      });
    }
  }

  #attempt(entity: SnapshotEntity, id: string, work: () => void): void {
    const key = `${entity}:${id}`;
    try {
      work();
      if (this.#failures.size > 0) this.#failures.delete(key);
    } catch (error) {
      this.#failures.set(key, { entity, id, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #makeTables(): Readonly<Record<SnapshotEntity, Table>> {
    const certificates = this.#certificates;
    const authorities = this.#authorities;
    const services = this.#services;
    const upstreams = this.#upstreams;
    const targets = this.#targets;
    const touchUsersOf = (certificate: string): void => {
      upstreams.touchUsersOf(certificate);
      services.touch(certificate);
    };
    return {
      certificates: {
        ids: () => certificates.certificateIds(),
        upsert: (row) => {
          certificates.upsertCertificate(row);
          touchUsersOf(row.id);
        },
        remove: (id) => {
          certificates.removeCertificate(id);
          touchUsersOf(id);
        },
      },
      ca_certificates: {
        ids: () => authorities.keys(),
        upsert: (row) => {
          if (text(row, 'cert') === null) throw new Error('it has no certificate');
          authorities.set(row.id, row);
          services.touch(row.id);
        },
        remove: (id) => {
          authorities.delete(id);
          services.touch(id);
        },
      },
      snis: {
        ids: () => certificates.sniIds(),
        upsert: (row) => certificates.upsertSni(row),
        remove: (id) => certificates.removeSni(id),
      },
      upstreams,
      // Their addresses come from the control plane; here they are only validated.
      targets: {
        ids: () => targets,
        upsert: (row) => {
          targets.add(row.id);
          splitHostPort(text(row, 'target') ?? '');
        },
        remove: (id) => targets.delete(id),
      },
      services,
      routes: {
        ids: () => [...this.#routes.ids(), ...this.#streamRoutes.ids()],
        upsert: (row) => {
          if ((texts(row, 'snis') ?? []).length > 0) this.#namedRoutes.add(row.id);
          else this.#namedRoutes.delete(row.id);
          // A route may have had the other kind before.
          try {
            this.#routes.upsert(row);
          } finally {
            this.#streamRoutes.upsert(row);
          }
        },
        remove: (id) => {
          this.#namedRoutes.delete(id);
          this.#routes.remove(id);
          this.#streamRoutes.remove(id);
        },
      },
      plugins: this.#plugins,
    };
  }
}
