import type { NameTable } from '../dns/name-table.ts';
import type { NameState } from '../dns/types.ts';
import type { NameKnowledge, Names } from '../snapshot/address-book.ts';
import type { NameAnswer } from '../upstream/worker-names.ts';
import type { SnapshotDelta, ToWorker } from '../workers/messages.ts';
import { ServiceHosts } from './service-hosts.ts';
import { Spellings } from './spellings.ts';

export interface NodeNamesOptions {
  readonly table: NameTable;
  readonly broadcast: (message: ToWorker) => void;
  /** The addresses of a target's name have changed, or are known for the first time. */
  readonly targetChanged: (name: string) => void;
}

/**
 * The names that the config holds: those of targets are asked for at once and go into the address book, those of services
 * when a worker first needs them. Both are followed until nothing in the config has them any more. Names that only a
 * plugin knows are followed as long as the table keeps them.
 */
export class NodeNames implements Names {
  readonly #options: NodeNamesOptions;
  readonly #services = new ServiceHosts();
  /** Names of targets. */
  readonly #targets = new Spellings();
  /** Names that workers know. */
  readonly #told = new Spellings();
  /** Names of services that the table was asked to keep. */
  readonly #kept = new Set<string>();

  constructor(options: NodeNamesOptions) {
    this.#options = options;
  }

  get(name: string): NameKnowledge | null {
    const state = this.#options.table.get(name);
    return state === null ? null : { addresses: state.addresses, error: failureOf(state) };
  }

  watch(name: string): void {
    this.#targets.add(name);
    this.#options.table.watch(name);
  }

  unwatch(name: string): void {
    if (this.#targets.delete(name)) this.#options.table.unwatch(name);
  }

  /** For a worker, which is told of every change from now on. */
  async resolve(name: string): Promise<NameAnswer> {
    this.#told.add(name);
    if (this.#services.has(name) && !this.#kept.has(name)) {
      this.#kept.add(name);
      this.#options.table.watch(name);
    }
    const state = await this.#options.table.lookup(name);
    return { addresses: state.addresses, error: failureOf(state) };
  }

  /** Called by the table, which knows names in lower case. */
  changed(key: string, { addresses }: NameState): void {
    for (const name of this.#targets.of(key)) this.#options.targetChanged(name);
    for (const name of this.#told.of(key)) this.#options.broadcast({ type: 'names', names: { [name]: addresses } });
  }

  /** Called by the table: it follows the name no more. */
  forgotten(key: string): void {
    for (const name of this.#told.of(key)) this.#untell(name);
  }

  /** Follows the hosts of services. */
  configChanged(delta: SnapshotDelta): void {
    for (const host of this.#services.change(delta)) {
      this.#untell(host);
      if (this.#kept.delete(host)) this.#options.table.unwatch(host);
      this.#options.table.forget(host);
    }
  }

  #untell(name: string): void {
    if (this.#told.delete(name)) this.#options.broadcast({ type: 'names', names: { [name]: null } });
  }
}

/** Addresses that are out of date still serve. */
function failureOf({ addresses, error }: NameState): string | null {
  return addresses.length > 0 ? null : (error ?? 'no address');
}
