import type { Row } from '../entities/entity.ts';
import { type BuiltUpstream, buildTarget, buildUpstream } from './build-upstream.ts';
import { MultiMap } from './multi-map.ts';
import { foreignId, text } from './row-fields.ts';
import type { RuntimeTarget } from './runtime.ts';

interface Target {
  readonly row: Row;
  readonly upstream: string;
  readonly built: RuntimeTarget;
}

/** Upstreams with their targets. Changes are gathered, then each upstream they touch is rebuilt once. */
export class UpstreamTable {
  readonly #rows = new Map<string, Row>();
  readonly #targets = new Map<string, Target>();
  readonly #targetsOf = new MultiMap<string, string>();
  readonly #byName = new Map<string, BuiltUpstream>();
  /** The name under which an upstream is in use. */
  readonly #nameOf = new Map<string, string>();
  #dirty = new Set<string>();

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

  targetIds(): Iterable<string> {
    return this.#targets.keys();
  }

  upsertTarget(row: Row): void {
    this.removeTarget(row.id);
    const upstream = foreignId(row, 'upstream') ?? '';
    this.#targets.set(row.id, { row, upstream, built: buildTarget(row) });
    this.#targetsOf.add(upstream, row.id);
    this.#dirty.add(upstream);
  }

  removeTarget(id: string): void {
    const target = this.#targets.get(id);
    if (target === undefined) return;
    this.#targets.delete(id);
    this.#targetsOf.delete(target.upstream, id);
    this.#dirty.add(target.upstream);
  }

  /** Services see a change of an upstream's client certificate by being rebuilt after it. */
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

  /** Returns the names whose meaning has changed: services with such a host have to be rebuilt. */
  rebuild(id: string): readonly string[] {
    const oldName = this.#nameOf.get(id);
    const previous = oldName === undefined ? null : this.byName(oldName);
    if (oldName !== undefined && previous?.id === id) this.#byName.delete(oldName);
    this.#nameOf.delete(id);
    const touched = oldName === undefined ? [] : [oldName];
    const row = this.#rows.get(id);
    if (row === undefined) return touched;
    const name = text(row, 'name') ?? '';
    this.#byName.set(name, this.#build(row, previous));
    this.#nameOf.set(id, name);
    return [...touched, name];
  }

  #build(row: Row, previous: BuiltUpstream | null): BuiltUpstream {
    const targets = Array.from(this.#targetsOf.get(row.id), (id) => this.#targets.get(id)!);
    targets.sort((a, b) => a.row.created_at - b.row.created_at || (a.row.id < b.row.id ? -1 : 1));
    return buildUpstream(
      row,
      targets.map((target) => target.built),
      previous,
    );
  }
}
