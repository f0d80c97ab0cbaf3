import type { Row } from '../../shared/entities/entity.ts';
import { text, texts } from '../../shared/entities/row-fields.ts';
import type { SnapshotDelta, SnapshotEntity, SnapshotFailure } from '../../shared/messages/messages.ts';
import type { AddressChanges } from '../../shared/messages/upstream-addresses.ts';
import { copyMap } from '../../shared/util/copy-in-steps.ts';
import { splitHostPort } from '../../shared/util/net/host-port.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { createRouter, type IndexedRouter } from '../router/indexed-router.ts';
import { StreamRouter } from '../router/stream-router.ts';
import { isHttpRoute, LiveRoute } from './build-route.ts';
import { appliesToStreams, LiveStreamRoute } from './build-stream-route.ts';
import type { UpstreamTlsDefaults } from './build-tls.ts';
import { CertificateTable } from './certificate-table.ts';
import type { PluginSet } from './plugin-set.ts';
import { RouteTable } from './route-table.ts';
import type { RuntimeRoute } from './runtime.ts';
import type { RuntimeStreamRoute } from './runtime-stream.ts';
import { ServiceTable } from './service-table.ts';
import { UpstreamTable } from './upstream-table.ts';

export interface TablesOptions {
  readonly zone: AddressZone;
  readonly upstreamTls: UpstreamTlsDefaults;
  readonly plugins: PluginSet;
}

/** Everything but plugin instances, which keep their state when the tables are built again. */
export type TableEntity = Exclude<SnapshotEntity, 'plugins'>;

/** Entities in the order in which they depend on each other. */
const order: readonly TableEntity[] = [
  'certificates',
  'ca_certificates',
  'snis',
  'upstreams',
  'targets',
  'services',
  'routes',
];

/** Entities that new tables copy from the previous ones. The others are few, and built again from their rows. */
const copied: ReadonlySet<SnapshotEntity> & Iterable<'services' | 'routes'> = new Set(['services', 'routes'] as const);

/** The common interface of the tables. `upsert` may throw: the entity is then recorded as failed. */
interface Table {
  upsert(row: Row): void;
  remove(id: string): void;
}

/** The routes of a snapshot, and what they lead to. */
export class SnapshotTables {
  readonly router: IndexedRouter<RuntimeRoute>;
  readonly streams = new StreamRouter<RuntimeStreamRoute>();
  readonly certificates: CertificateTable;
  readonly upstreams: UpstreamTable;
  readonly services: ServiceTable;
  readonly routes: RouteTable<LiveRoute>;
  readonly failures = new Map<string, SnapshotFailure>();
  /** Routes with `snis`. */
  readonly namedRoutes = new Set<string>();
  readonly #rows: Readonly<Record<TableEntity, Map<string, Row>>>;
  readonly #authorities = new Map<string, Row>();
  readonly #streamRoutes: RouteTable<LiveStreamRoute>;
  readonly #tables: Readonly<Record<TableEntity, Table>>;

  /** While `fill` runs: what is expensive to build is taken from there where its row is the same. */
  #previous: SnapshotTables | null = null;

  constructor({ zone, upstreamTls, plugins }: TablesOptions) {
    this.#rows = Object.fromEntries(order.map((entity) => [entity, new Map<string, Row>()])) as Record<
      TableEntity,
      Map<string, Row>
    >;
    this.router = createRouter<RuntimeRoute>();
    this.certificates = new CertificateTable((row) => this.#previous?.certificates.builtFrom(row) ?? null);
    this.upstreams = new UpstreamTable(
      zone,
      (row, addresses) => this.#previous?.upstreams.builtFrom(row, addresses) ?? null,
    );
    this.services = new ServiceTable({
      defaults: upstreamTls,
      upstream: (name) => this.upstreams.byName(name),
      certificate: (id) => this.certificates.certificateRow(id),
      authority: (id) => this.#authorities.get(id),
    });
    this.routes = new RouteTable<LiveRoute>(this.router, this.services, (row) =>
      isHttpRoute(row) ? new LiveRoute(row, plugins) : null,
    );
    this.#streamRoutes = new RouteTable<LiveStreamRoute>(this.streams, this.services, (row) =>
      appliesToStreams(row) ? new LiveStreamRoute(row, plugins.streams) : null,
    );
    this.#tables = this.#makeTables();
  }

  /** Applies a change in steps, each as short as one entity; never throws. */
  *apply(delta: SnapshotDelta): Generator<void> {
    if (delta.full) yield* this.#removeAbsent(delta);
    yield* this.#removeAll(order.toReversed(), delta);
    for (const entity of order) yield* this.#upsertAll(entity, delta.upserts[entity] ?? []);
  }

  /**
   * Fills empty tables in steps with the content of others and a change of it. The others can be used meanwhile, but not changed. Services
   * and routes are shared with them, and their indexes: the cost depends on the change, hardly on the size of the config.
   */
  *fill(previous: SnapshotTables, delta: SnapshotDelta, addresses: AddressChanges | null): Generator<void> {
    this.#previous = previous;
    this.upstreams.copyAddresses(previous.upstreams);
    if (addresses !== null) this.upstreams.setAddresses(addresses);
    if (!delta.full) {
      // First, because what is filled below names the services that it affects.
      yield* this.#copyRoutes(previous);
      this.#touchUsers(previous, delta);
      yield* this.#removeAll(['routes', 'services'], delta);
    }
    for (const entity of order) {
      if (delta.full || copied.has(entity)) yield* this.#upsertAll(entity, delta.upserts[entity] ?? []);
      else yield* this.#upsertAll(entity, changedRows(previous.#rows[entity], delta, entity).values());
    }
    this.#previous = null;
    this.services.release();
    this.routes.release();
    this.#streamRoutes.release();
  }

  *#copyRoutes(previous: SnapshotTables): Generator<void> {
    for (const entity of copied) yield* copyMap(previous.#rows[entity], this.#rows[entity]);
    for (const [key, failure] of previous.failures) if (copied.has(failure.entity)) this.failures.set(key, failure);
    for (const id of previous.namedRoutes) this.namedRoutes.add(id);
    yield* this.services.copyFrom(previous.services);
    yield* this.router.copyFrom(previous.router);
    yield* this.streams.copyFrom(previous.streams);
    yield* this.routes.copyFrom(previous.routes);
    yield* this.#streamRoutes.copyFrom(previous.#streamRoutes);
  }

  /** The addresses of upstreams have changed, but not the config. */
  updateAddresses(addresses: AddressChanges): void {
    this.upstreams.setAddresses(addresses);
    for (const _ of this.#rebuildUpstreams());
    for (const _ of this.#rebuildServices());
  }

  *#upsertAll(entity: TableEntity, rows: Iterable<Row>): Generator<void> {
    for (const row of rows) {
      this.#rows[entity].set(row.id, row);
      this.#attempt(entity, row.id, () => this.#tables[entity].upsert(row));
      yield;
    }
    if (entity === 'targets') yield* this.#rebuildUpstreams();
    if (entity === 'services') yield* this.#rebuildServices();
  }

  /** Services that use what is no longer there under its name or id. What is there is filled, and touches its users then. */
  #touchUsers(previous: SnapshotTables, { upserts, removes }: SnapshotDelta): void {
    for (const id of [...(removes.certificates ?? []), ...(removes.ca_certificates ?? [])]) this.services.touch(id);
    for (const id of [...(removes.upstreams ?? []), ...(upserts.upstreams ?? []).map((row) => row.id)]) {
      const row = previous.#rows.upstreams.get(id);
      if (row !== undefined) this.services.touch(text(row, 'name') ?? '');
    }
  }

  *#removeAll(entities: readonly TableEntity[], { removes }: SnapshotDelta): Generator<void> {
    for (const entity of entities) {
      for (const id of removes[entity] ?? []) {
        this.#remove(entity, id);
        yield;
      }
    }
  }

  *#removeAbsent(delta: SnapshotDelta): Generator<void> {
    for (const entity of order.toReversed()) {
      const present = new Set((delta.upserts[entity] ?? []).map((row) => row.id));
      for (const id of [...this.#rows[entity].keys()]) {
        if (present.has(id)) continue;
        this.#remove(entity, id);
        yield;
      }
    }
  }

  #remove(entity: TableEntity, id: string): void {
    this.#rows[entity].delete(id);
    this.#attempt(entity, id, () => this.#tables[entity].remove(id));
  }

  /** Upstreams are built once, however many of their targets a delta contains. */
  *#rebuildUpstreams(): Generator<void> {
    for (const id of this.upstreams.takeDirty()) {
      this.#attempt('upstreams', id, () => {
        for (const name of this.upstreams.rebuild(id)) this.services.touch(name);
      });
      yield;
    }
  }

  *#rebuildServices(): Generator<void> {
    for (const id of this.services.takeDirty()) {
      this.#attempt('services', id, () => this.services.rebuild(id));
      const attempt = (routeId: string, work: () => void): void => this.#attempt('routes', routeId, work);
      yield* this.routes.rebind(id, attempt);
      yield* this.#streamRoutes.rebind(id, attempt);
      yield;
    }
  }

  #attempt(entity: TableEntity, id: string, work: () => void): void {
    const key = `${entity}:${id}`;
    try {
      work();
      if (this.failures.size > 0) this.failures.delete(key);
    } catch (error) {
      this.failures.set(key, { entity, id, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #makeTables(): Readonly<Record<TableEntity, Table>> {
    const { certificates, services, upstreams, routes, namedRoutes } = this;
    const authorities = this.#authorities;
    const streamRoutes = this.#streamRoutes;
    const touchUsersOf = (certificate: string): void => {
      upstreams.touchUsersOf(certificate);
      services.touch(certificate);
    };
    return {
      certificates: {
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
        upsert: (row) => certificates.upsertSni(row),
        remove: (id) => certificates.removeSni(id),
      },
      upstreams,
      // Their addresses come from the control plane; here they are only validated.
      targets: {
        upsert: (row) => void splitHostPort(text(row, 'target') ?? ''),
        remove: () => {},
      },
      services,
      routes: {
        upsert: (row) => {
          if ((texts(row, 'snis') ?? []).length > 0) namedRoutes.add(row.id);
          else namedRoutes.delete(row.id);
          // A route may have had the other kind before.
          try {
            routes.upsert(row);
          } finally {
            streamRoutes.upsert(row);
          }
        },
        remove: (id) => {
          namedRoutes.delete(id);
          routes.remove(id);
          streamRoutes.remove(id);
        },
      },
    };
  }
}

function changedRows(rows: ReadonlyMap<string, Row>, { upserts, removes }: SnapshotDelta, entity: TableEntity) {
  const changed = new Map(rows);
  for (const id of removes[entity] ?? []) changed.delete(id);
  for (const row of upserts[entity] ?? []) changed.set(row.id, row);
  return changed;
}
