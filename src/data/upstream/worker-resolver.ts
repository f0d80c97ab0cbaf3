import type { NameAddress, NameAnswer, NameChanges } from '../../shared/messages/name-changes.ts';

/** Whether the name has an address now, and otherwise the reason. */
export type ResolveDone = (found: boolean, reason: string) => void;

/** A weighted rotation of addresses, by their index (balancer/weighted-sequence.ts). */
interface Rotation {
  /** Slots in one round. */
  readonly size: number;
  at(slot: number): number;
}

interface Entry {
  addresses: readonly NameAddress[];
  rotation: Rotation;
  next: number;
}

/**
 * Addresses of the services' host names in one worker. A worker requests a name from the control plane on first use.
 * From then on the control plane reports changes, so that a known name costs one map lookup.
 */
export class WorkerResolver {
  readonly #names = new Map<string, Entry>();
  readonly #waiting = new Map<string, ResolveDone[]>();
  readonly #lookup: (name: string) => Promise<NameAnswer>;
  readonly #rotationOf: (weights: readonly number[]) => Rotation;

  constructor(lookup: (name: string) => Promise<NameAnswer>, rotationOf: (weights: readonly number[]) => Rotation) {
    this.#lookup = lookup;
    this.#rotationOf = rotationOf;
  }

  /** The next address of the name, in rotation; null when it must be resolved first (`resolve`). */
  next(name: string): NameAddress | null {
    const entry = this.#names.get(name);
    if (entry === undefined) return null;
    const { rotation } = entry;
    entry.next = entry.next + 1 < rotation.size ? entry.next + 1 : 0;
    return entry.addresses[rotation.at(entry.next)] ?? null;
  }

  resolve(name: string, done: ResolveDone): void {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    this.#waiting.set(name, [done]);
    this.#lookup(name).then(
      ({ addresses, error }) => this.#answered(name, addresses, error ?? 'no address'),
      () => this.#answered(name, [], 'the resolver did not answer'),
    );
  }

  changed(changes: NameChanges): void {
    for (const [name, addresses] of Object.entries(changes)) {
      if (addresses === null || addresses.length === 0) this.#names.delete(name);
      else if (this.#names.has(name)) this.#update(name, addresses);
    }
  }

  #answered(name: string, addresses: readonly NameAddress[], reason: string): void {
    if (addresses.length > 0) this.#update(name, addresses);
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const done of waiting) done(addresses.length > 0, reason);
  }

  #update(name: string, addresses: readonly NameAddress[]): void {
    const rotation = this.#rotationOf(addresses.map(({ weight }) => Math.max(1, weight ?? 1)));
    // Workers start at different positions: otherwise the first address gets the first request of each.
    this.#names.set(name, { addresses, rotation, next: Math.floor(Math.random() * rotation.size) });
  }
}
