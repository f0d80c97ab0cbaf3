import type { Row } from '../../shared/entities/entity.ts';
import { isEnabled, text } from '../../shared/entities/row-fields.ts';
import { copyMap } from '../../shared/util/copy-in-steps.ts';
import { LiveService, serviceHost } from './build-service.ts';
import { buildTls, type TlsSources, tlsReferences } from './build-tls.ts';
import type { BuiltUpstream } from './build-upstream.ts';
import { MultiMap } from './multi-map.ts';
import type { UpstreamTls } from './runtime.ts';

export interface ServiceSources extends TlsSources {
  upstream(name: string): BuiltUpstream | null;
}

/** What a route needs to know about its service. */
export type ServiceState =
  | { readonly kind: 'ready'; readonly service: LiveService }
  | { readonly kind: 'disabled' }
  /** Unknown, or it could not be built. */
  | { readonly kind: 'absent' };

const disabled: ServiceState = Object.freeze({ kind: 'disabled' });
const absent: ServiceState = Object.freeze({ kind: 'absent' });

/** Services, and the inputs of each. */
export class ServiceTable {
  readonly #sources: ServiceSources;
  readonly #rows = new Map<string, Row>();
  readonly #services = new Map<string, LiveService>();
  /** Ids by name. */
  readonly #byName = new Map<string, string>();
  /** Ids of services by host and by certificate: the keys whose change requires a rebuild. */
  readonly #users = new MultiMap<string, string>();
  #dirty = new Set<string>();
  /** Another table uses the services of this one. */
  #shared = false;

  constructor(sources: ServiceSources) {
    this.#sources = sources;
  }

  /** Gives an empty table the services of another, in steps. Until `release`, services are replaced instead of changed. */
  *copyFrom(other: ServiceTable): Generator<void> {
    this.#shared = true;
    yield* copyMap(other.#rows, this.#rows);
    yield* copyMap(other.#services, this.#services);
    yield* copyMap(other.#byName, this.#byName);
    yield* this.#users.copyFrom(other.#users);
  }

  /** The other table is no longer used. */
  release(): void {
    this.#shared = false;
  }

  state(id: string): ServiceState {
    const service = this.#services.get(id);
    if (service !== undefined) return { kind: 'ready', service };
    const row = this.#rows.get(id);
    return row !== undefined && !isEnabled(row) ? disabled : absent;
  }

  find(idOrName: string): LiveService | null {
    const id = this.#byName.get(idOrName) ?? idOrName;
    return this.#services.get(id) ?? null;
  }

  ids(): Iterable<string> {
    return this.#rows.keys();
  }

  upsert(row: Row): void {
    this.remove(row.id);
    this.#rows.set(row.id, row);
    const name = text(row, 'name');
    if (name !== null) this.#byName.set(name, row.id);
    for (const key of usedKeys(row)) this.#users.add(key, row.id);
  }

  remove(id: string): void {
    const row = this.#rows.get(id);
    this.#dirty.add(id);
    if (row === undefined) return;
    this.#rows.delete(id);
    const name = text(row, 'name');
    if (name !== null && this.#byName.get(name) === id) this.#byName.delete(name);
    for (const key of usedKeys(row)) this.#users.delete(key, id);
  }

  /** An upstream of this name, or a certificate of this id, was added, changed or removed. */
  touch(key: string): void {
    for (const id of this.#users.get(key)) this.#dirty.add(id);
  }

  takeDirty(): Iterable<string> {
    const dirty = this.#dirty;
    this.#dirty = new Set();
    return dirty;
  }

  /** Throws when the service cannot be built; it is then absent. */
  rebuild(id: string): void {
    const row = this.#rows.get(id);
    const known = this.#services.get(id);
    this.#services.delete(id);
    if (row === undefined || !isEnabled(row)) return;
    const upstream = this.#sources.upstream(serviceHost(row));
    const tls = buildTls(row, upstream?.clientCertificate ?? null, this.#sources);
    // Only what the service refers to has changed: its routes keep the object.
    const keeps = known?.stored === row && (!this.#shared || (known.upstream === upstream && isSame(known.tls, tls)));
    const service = keeps ? known : new LiveService(row);
    if (service !== known || !this.#shared) {
      service.upstream = upstream;
      service.tls = tls;
    }
    this.#services.set(id, service);
  }
}

function isSame(one: UpstreamTls | null, other: UpstreamTls | null): boolean {
  return one?.identity === other?.identity;
}

function usedKeys(row: Row): readonly string[] {
  return [serviceHost(row), ...tlsReferences(row)];
}
