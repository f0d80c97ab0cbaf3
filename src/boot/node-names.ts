import type { NameTable } from '../dns/name-table.ts';
import type { NameState } from '../dns/types.ts';
import type { NameKnowledge, Names } from '../snapshot/address-book.ts';
import type { NameAnswer } from '../upstream/worker-names.ts';
import type { SnapshotDelta, ToWorker } from '../workers/messages.ts';

export interface NodeNamesOptions {
  readonly table: NameTable;
  readonly broadcast: (message: ToWorker) => void;
  /** The addresses of a target's name have changed, or are known for the first time. */
  readonly targetChanged: (name: string) => void;
}

/**
 * The names that the config holds: those of targets are asked for at once and go into the address book, those of services when
 * a worker first needs them. Both are followed until nothing in the config has them any more.
 */
export class NodeNames implements Names {
  readonly #options: NodeNamesOptions;
  /** Names of targets. */
  readonly #watched = new Set<string>();
  /** Names that workers know. */
  readonly #told = new Set<string>();
  readonly #hostOf = new Map<string, string>();
  readonly #services = new Map<string, number>();

  constructor(options: NodeNamesOptions) {
    this.#options = options;
  }

  get(name: string): NameKnowledge | null {
    const state = this.#options.table.get(name);
    return state === null ? null : { addresses: state.addresses, error: failureOf(state) };
  }

  watch(name: string): void {
    this.#watched.add(name);
    void this.#options.table.lookup(name).then(() => {
      if (this.#watched.has(name)) this.#options.targetChanged(name);
    });
  }

  unwatch(name: string): void {
    this.#watched.delete(name);
    this.#forgetUnused(name);
  }

  /** For a worker, which is told of every change from now on. */
  async resolve(name: string): Promise<NameAnswer> {
    this.#told.add(name);
    const state = await this.#options.table.lookup(name);
    return { addresses: state.addresses, error: failureOf(state) };
  }

  /** Called by the table. Names are in lower case there. */
  changed(key: string, state: NameState): void {
    for (const name of this.#watched) if (name.toLowerCase() === key) this.#options.targetChanged(name);
    for (const name of this.#told) {
      if (name.toLowerCase() !== key) continue;
      this.#options.broadcast({ type: 'names', names: { [name]: state.addresses } });
    }
  }

  /** Follows the hosts of services. */
  configChanged(delta: SnapshotDelta): void {
    const before = [...(delta.removes.services ?? []), ...(delta.upserts.services ?? []).map(({ id }) => id)]
      .map((id) => [id, this.#hostOf.get(id)] as const)
      .filter((entry) => entry[1] !== undefined) as readonly (readonly [string, string])[];
    for (const [id, host] of before) {
      this.#hostOf.delete(id);
      this.#services.set(host, (this.#services.get(host) ?? 1) - 1);
    }
    for (const { id, host } of delta.upserts.services ?? []) {
      if (typeof host !== 'string') continue;
      this.#hostOf.set(id, host);
      this.#services.set(host, (this.#services.get(host) ?? 0) + 1);
    }
    for (const [, host] of before) {
      if ((this.#services.get(host) ?? 0) > 0) continue;
      this.#services.delete(host);
      this.#forgetUnused(host);
    }
  }

  #forgetUnused(name: string): void {
    if (this.#watched.has(name) || this.#services.has(name)) return;
    if (this.#told.delete(name)) this.#options.broadcast({ type: 'names', names: { [name]: null } });
    this.#options.table.forget(name);
  }
}

/** Addresses that are out of date still serve. */
function failureOf({ addresses, error }: NameState): string | null {
  return addresses.length > 0 ? null : (error ?? 'no address');
}
