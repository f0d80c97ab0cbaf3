import type { Row } from '../../shared/entities/entity.ts';
import { text } from '../../shared/entities/row-fields.ts';
import type { AddressChanges, UpstreamAddresses } from '../../shared/messages/upstream-addresses.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { type BuiltUpstream, buildUpstream } from './build-upstream.ts';

type Reusable = (row: Row, addresses: UpstreamAddresses | null) => BuiltUpstream | null;

/** Upstreams and the addresses of their targets. Changes are collected, then each affected upstream is rebuilt once. */
export class UpstreamTable {
  readonly #zone: AddressZone;
  readonly #rows = new Map<string, Row>();
  readonly #addresses = new Map<string, UpstreamAddresses>();
  readonly #byName = new Map<string, BuiltUpstream>();
  /** The name under which an upstream is used. */
  readonly #nameOf = new Map<string, string>();
  #dirty = new Set<string>();

  readonly #reusable: Reusable;

  /** `reusable`: an upstream that was built from the same row and addresses. */
  constructor(zone: AddressZone, reusable: Reusable = () => null) {
    this.#zone = zone;
    this.#reusable = reusable;
  }

  /** The upstream that was built from this row and these addresses. */
  builtFrom(row: Row, addresses: UpstreamAddresses | null): BuiltUpstream | null {
    if (this.#rows.get(row.id) !== row || (this.#addresses.get(row.id) ?? null) !== addresses) return null;
    const built = this.byName(text(row, 'name') ?? '');
    return built?.id === row.id ? built : null;
  }

  /** Starts with the addresses of another table. */
  copyAddresses(from: UpstreamTable): void {
    for (const [id, addresses] of from.#addresses) this.#addresses.set(id, addresses);
  }

  byName(name: string): BuiltUpstream | null {
    return this.#byName.get(name) ?? null;
  }

  ids(): Iterable<string> {
    return this.#rows.keys();
  }

  upsert(row: Row): void {
    this.#rows.set(row.id, row);
    this.#dirty.add(row.id);
  }

  remove(id: string): void {
    this.#rows.delete(id);
    this.#dirty.add(id);
  }

  setAddresses({ changed, dropped }: AddressChanges): void {
    for (const id of dropped) this.#addresses.delete(id);
    for (const addresses of changed) {
      this.#addresses.set(addresses.upstreamId, addresses);
      this.#dirty.add(addresses.upstreamId);
    }
  }

  /** Services see a change of an upstream's client certificate because they are rebuilt after it. */
  touchUsersOf(certificate: string): void {
    for (const upstream of this.#byName.values()) {
      if (upstream.clientCertificate === certificate) this.#dirty.add(upstream.id);
    }
  }

  takeDirty(): Iterable<string> {
    const dirty = this.#dirty;
    this.#dirty = new Set();
    return dirty;
  }

  /** Returns the names whose meaning has changed: services with such a host must be rebuilt. */
  rebuild(id: string): readonly string[] {
    const oldName = this.#nameOf.get(id);
    if (oldName !== undefined && this.byName(oldName)?.id === id) this.#byName.delete(oldName);
    this.#nameOf.delete(id);
    const touched = oldName === undefined ? [] : [oldName];
    const row = this.#rows.get(id);
    if (row === undefined) return touched;
    const name = text(row, 'name') ?? '';
    const addresses = this.#addresses.get(id) ?? null;
    this.#byName.set(name, this.#reusable(row, addresses) ?? buildUpstream(row, addresses, this.#zone));
    this.#nameOf.set(id, name);
    return [...touched, name];
  }
}
