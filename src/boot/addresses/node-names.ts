import type { NameTable } from '../../control/dns/name-table.ts';
import type { NameState } from '../../control/dns/types.ts';
import type { NameKnowledge, Names } from '../../control/publish/address-book.ts';
import type { SnapshotDelta, ToWorker } from '../../shared/messages/messages.ts';
import type { NameAnswer } from '../../shared/messages/name-changes.ts';
import { CaseInsensitiveNames } from './case-insensitive-names.ts';
import { ServiceHosts } from './service-hosts.ts';

export interface NodeNamesOptions {
  readonly table: NameTable;
  readonly broadcast: (message: ToWorker) => void;
  /** The addresses of a target's name have changed, or are known for the first time. */
  readonly targetChanged: (name: string) => void;
}

/**
 * The names in the config. Names of targets are resolved at once and go into the address book; names of services are resolved when a
 * worker first needs them. Both are kept up to date until they are no longer in the config. Names that only a plugin uses are kept up
 * to date as long as they are in the table.
 */
export class NodeNames implements Names {
  readonly #options: NodeNamesOptions;
  readonly #services = new ServiceHosts();
  /** Names of targets. */
  readonly #targets = new CaseInsensitiveNames();
  /** Names that were sent to workers. */
  readonly #sent = new CaseInsensitiveNames();
  /** Names of services that the table watches. */
  readonly #watched = new Set<string>();

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

  /** For a worker, which receives every change from now on. */
  async resolve(name: string): Promise<NameAnswer> {
    this.#sent.add(name);
    if (this.#services.has(name) && !this.#watched.has(name)) {
      this.#watched.add(name);
      this.#options.table.watch(name);
    }
    const state = await this.#options.table.lookup(name);
    return { addresses: state.addresses, error: failureOf(state) };
  }

  /** Called by the table, which knows names in lower case. */
  changed(key: string, { addresses }: NameState): void {
    for (const name of this.#targets.of(key)) this.#options.targetChanged(name);
    for (const name of this.#sent.of(key)) this.#options.broadcast({ type: 'names', names: { [name]: addresses } });
  }

  /** Called by the table when it removes a name. */
  removed(key: string): void {
    for (const name of this.#sent.of(key)) this.#withdraw(name);
  }

  /** Follows the hosts of services. */
  configChanged(delta: SnapshotDelta): void {
    for (const host of this.#services.change(delta)) {
      this.#withdraw(host);
      if (this.#watched.delete(host)) this.#options.table.unwatch(host);
      this.#options.table.remove(host);
    }
  }

  #withdraw(name: string): void {
    if (this.#sent.delete(name)) this.#options.broadcast({ type: 'names', names: { [name]: null } });
  }
}

/** Stale addresses are still used. */
function failureOf({ addresses, error }: NameState): string | null {
  return addresses.length > 0 ? null : (error ?? 'no address');
}
