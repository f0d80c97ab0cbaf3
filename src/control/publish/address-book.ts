import { isIP } from 'node:net';
import type { Row } from '../../shared/entities/entity.ts';
import { foreignId } from '../../shared/entities/row-fields.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import type {
  AddressChanges,
  TargetAddress,
  UpstreamAddresses,
  WatchedTarget,
  WatchedUpstream,
} from '../../shared/messages/upstream-addresses.ts';
import { splitHostPort } from '../../shared/util/net/host-port.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { AddressSlots, addressKey, upstreamKey } from './address-slots.ts';

/** Name resolution, as the book needs it (dns/name-table.ts). */
export interface Names {
  /** The current state of the name; null: it was never resolved, or the first query is in progress. */
  get(name: string): NameKnowledge | null;
  /** Resolves the name and keeps it up to date; each change of its addresses is reported to the book (`nameChanged`). */
  watch(name: string): void;
  unwatch(name: string): void;
}

export interface NameKnowledge {
  readonly addresses: readonly NameAddress[];
  readonly error: string | null;
}

export interface NameAddress {
  readonly ip: string;
  /** Of SRV records; null: the target's own. */
  readonly port: number | null;
  readonly weight: number | null;
  readonly name: string;
}

interface Target {
  readonly row: Row;
  readonly upstreamId: string;
  readonly host: string;
  readonly port: number;
}

interface Upstream {
  row: Row | null;
  readonly targets: Set<string>;
  built: WatchedUpstream | null;
  keys: readonly string[];
}

/**
 * The control plane's list of every upstream: its targets, their addresses, and the slot of each in the address zone.
 * All workers receive the same list, so that they decide alike.
 */
export class AddressBook {
  readonly #zone: AddressZone;
  readonly #slots: AddressSlots;
  readonly #names: Names;
  readonly #targets = new Map<string, Target>();
  readonly #upstreams = new Map<string, Upstream>();
  /** Targets by the name that they resolve. */
  readonly #byName = new Map<string, Set<string>>();
  #changed: () => void = () => {};

  constructor(zone: AddressZone, names: Names) {
    this.#zone = zone;
    this.#slots = new AddressSlots(zone);
    this.#names = names;
  }

  /** Called after each change of any upstream or address. */
  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  /** Applies a change of the config. Null: it concerns no upstream. */
  change(delta: SnapshotDelta): AddressChanges | null {
    const touched = new Set<string>();
    for (const id of delta.removes.targets ?? []) this.#removeTarget(id, touched);
    for (const id of delta.removes.upstreams ?? []) this.#setRow(id, null, touched);
    for (const row of delta.upserts.upstreams ?? []) this.#setRow(row.id, row, touched);
    for (const row of delta.upserts.targets ?? []) this.#addTarget(row, touched);
    return this.#rebuild(touched);
  }

  /** The addresses of a name have changed. */
  nameChanged(name: string): AddressChanges | null {
    const touched = new Set<string>();
    for (const id of this.#byName.get(name) ?? []) touched.add((this.#targets.get(id) as Target).upstreamId);
    return this.#rebuild(touched);
  }

  /** The whole list, for a new worker. */
  all(): AddressChanges {
    const changed = [...this.list()].map(wire);
    return { changed, dropped: [] };
  }

  *list(): IterableIterator<WatchedUpstream> {
    for (const { built } of this.#upstreams.values()) if (built !== null) yield built;
  }

  get(upstreamId: string): WatchedUpstream | null {
    return this.#upstreams.get(upstreamId)?.built ?? null;
  }

  #setRow(id: string, row: Row | null, touched: Set<string>): void {
    this.#upstream(id).row = row;
    touched.add(id);
  }

  #addTarget(row: Row, touched: Set<string>): void {
    this.#removeTarget(row.id, touched);
    const upstreamId = foreignId(row, 'upstream') ?? '';
    const address = parsed(row);
    if (address === null) return;
    const { host, port } = address;
    this.#targets.set(row.id, { row, upstreamId, host, port });
    this.#upstream(upstreamId).targets.add(row.id);
    touched.add(upstreamId);
    if (isIP(host) !== 0) return;
    let users = this.#byName.get(host);
    if (users === undefined) {
      users = new Set();
      this.#byName.set(host, users);
      this.#names.watch(host);
    }
    users.add(row.id);
  }

  #removeTarget(id: string, touched: Set<string>): void {
    const target = this.#targets.get(id);
    if (target === undefined) return;
    this.#targets.delete(id);
    this.#upstreams.get(target.upstreamId)?.targets.delete(id);
    touched.add(target.upstreamId);
    const users = this.#byName.get(target.host);
    if (users === undefined) return;
    users.delete(id);
    if (users.size > 0) return;
    this.#byName.delete(target.host);
    this.#names.unwatch(target.host);
  }

  #upstream(id: string): Upstream {
    let upstream = this.#upstreams.get(id);
    if (upstream === undefined) {
      upstream = { row: null, targets: new Set(), built: null, keys: [] };
      this.#upstreams.set(id, upstream);
    }
    return upstream;
  }

  #rebuild(touched: ReadonlySet<string>): AddressChanges | null {
    if (touched.size === 0) return null;
    const changed: UpstreamAddresses[] = [];
    const dropped: string[] = [];
    for (const id of touched) {
      const upstream = this.#upstream(id);
      const before = upstream.keys;
      if (upstream.row === null) {
        upstream.built = null;
        upstream.keys = [];
        dropped.push(id);
        if (upstream.targets.size === 0) this.#upstreams.delete(id);
      } else {
        upstream.built = this.#build(upstream, upstream.row);
        changed.push(wire(upstream.built));
      }
      // Only now, so that slots that stay in use are never released.
      for (const key of before) this.#slots.release(key);
    }
    this.#changed();
    return { changed, dropped };
  }

  #build(upstream: Upstream, row: Row): WatchedUpstream {
    const keys: string[] = [];
    const take = (key: string): number => {
      const place = this.#slots.take(key);
      // A slot that was not assigned is not released: another address may have it by now.
      if (place !== 0) keys.push(key);
      return place;
    };
    const upstreamName = String(row['name']);
    const useSrvName = row['use_srv_name'] === true;
    const slot = take(upstreamKey(upstreamName));
    const served = servedSlots(upstream.built);
    const targets = [...upstream.targets].map((id) => this.#targets.get(id) as Target);
    targets.sort((a, b) => a.row.created_at - b.row.created_at || (a.row.id < b.row.id ? -1 : 1));
    const addresses: TargetAddress[] = [];
    const pending: string[] = [];
    const watched: WatchedTarget[] = [];
    for (const target of targets) {
      const found = this.#addressesOf(target);
      if (found === null) pending.push(target.host);
      watched.push({ row: target.row, host: target.host, port: target.port, error: found?.error ?? null });
      const targetWeight = typeof target.row['weight'] === 'number' ? target.row['weight'] : 100;
      for (const { ip, port, weight, name } of found?.addresses ?? []) {
        const at = port ?? target.port;
        const place = take(addressKey(upstreamName, ip, at));
        const share = targetWeight === 0 ? 0 : (weight ?? targetWeight);
        // An address that is added to an upstream in use starts slowly; those of the first config do not.
        if (served !== null && share > 0 && !served.has(place)) this.#zone.markAvailable(place);
        addresses.push({
          targetId: target.row.id,
          host: useSrvName && port !== null ? name : target.host,
          ip,
          port: at,
          weight: share,
          slot: place,
        });
      }
    }
    upstream.keys = keys;
    return { upstreamId: row.id, upstreamName, slot, addresses, pending, row, targets: watched };
  }

  /** Null: not known yet. */
  #addressesOf({ host, port }: Target): NameKnowledge | null {
    if (isIP(host) === 0) return this.#names.get(host);
    return { addresses: [{ ip: host, port, weight: null, name: host }], error: null };
  }
}

/** Slots of the addresses that had a share of the traffic; null: the upstream is new. */
function servedSlots(built: WatchedUpstream | null): ReadonlySet<number> | null {
  if (built === null) return null;
  return new Set(built.addresses.filter(({ weight }) => weight > 0).map(({ slot }) => slot));
}

/** Null: it is not an address. The workers record that as a failure of the target. */
function parsed(row: Row): ReturnType<typeof splitHostPort> | null {
  try {
    return splitHostPort(String(row['target']));
  } catch {
    return null;
  }
}

function wire({ upstreamId, upstreamName, slot, addresses, pending }: UpstreamAddresses): UpstreamAddresses {
  return { upstreamId, upstreamName, slot, addresses, pending };
}
