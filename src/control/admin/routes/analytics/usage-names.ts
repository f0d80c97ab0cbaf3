import { other } from '../../../../shared/usage/series-key.ts';
import type { StoreReader } from '../../../store/store.ts';
import type { UsageStore } from '../../../store/usage-store.ts';
import type { UsageLedger } from '../../../usage/usage-ledger.ts';
import type { Grouping, UsageFilter, UsageGroup } from '../../../usage/usage-reader.ts';
import type { NamedFilter, UsageRequest } from './usage-request.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Unique fields that name an entity. */
const nameFields: Readonly<Record<NamedFilter, readonly string[]>> = {
  route: ['name'],
  service: ['name'],
  consumer: ['username', 'custom_id'],
};

/** Maximum entities that one page looks up: the names of most routes and consumers are cached. */
const maxAsked = 100;

/** Translates between the ids of usage rows and names, also of deleted entities. */
export class UsageNames {
  readonly #store: StoreReader & UsageStore;
  readonly #ledger: UsageLedger;

  constructor(store: StoreReader & UsageStore, ledger: UsageLedger) {
    this.#store = store;
    this.#ledger = ledger;
  }

  /** The filter by ids. A name that no entity has or had matches nothing. */
  async filter({ range, named, plain, statuses }: UsageRequest): Promise<UsageFilter> {
    const where: Record<string, readonly string[]> = {};
    for (const [kind, values] of named) {
      if (values.length === 0) continue;
      const ids = await Promise.all(values.map((value) => this.#idsOf(kind, value)));
      where[kind] = ids.flat();
    }
    for (const [field, values] of plain) if (values.length > 0) where[field] = values;
    return { ...range, where, ...(statuses === null ? {} : { statuses }) };
  }

  async #idsOf(kind: NamedFilter, value: string): Promise<readonly string[]> {
    if (value === '' || value === other) return [value];
    if (uuid.test(value)) return [value.toLowerCase()];
    const [live, kept] = await Promise.all([
      Promise.all(nameFields[kind].map((field) => this.#store.findBy(`${kind}s`, field, value))),
      this.#store.findUsageNames(kind, value),
    ]);
    const ids = [...live.flatMap((row) => row?.id ?? []), ...kept.map(({ id }) => id)];
    return [...new Set([...ids, ...this.#ledger.nameBook.idsOf(kind, value)])];
  }

  /** The names that a worker has not yet sent are lost when it dies; the store has the names of existing entities. */
  async #addLive(
    groups: readonly UsageGroup[],
    kinds: readonly NamedFilter[],
    names: Map<string, string>,
  ): Promise<void> {
    const missing = new Map<string, readonly [NamedFilter, string]>();
    for (const { key } of groups) {
      for (const kind of kinds) {
        const name = `${kind} ${key[kind]}`;
        if (missing.size < maxAsked && !names.has(name) && uuid.test(key[kind])) missing.set(name, [kind, key[kind]]);
      }
    }
    const asked = [...missing].map(async ([name, [kind, id]]) => {
      const row = await this.#store.get(`${kind}s`, id);
      const live = nameFields[kind].map((field) => row?.[field]).find((value) => typeof value === 'string');
      if (typeof live === 'string') names.set(name, live);
    });
    await Promise.all(asked);
  }

  /** Names of all ids in the groups, by kind and id. */
  async of(groups: readonly UsageGroup[], { by }: Grouping): Promise<(kind: NamedFilter, id: string) => string | null> {
    const kinds = (Object.keys(nameFields) as NamedFilter[]).filter((kind) => by.includes(kind));
    const names = new Map<string, string>();
    for (const kind of kinds) {
      const ids = [...new Set(groups.map(({ key }) => key[kind]))].filter((id) => id !== '' && id !== other);
      for (const { id, name } of await this.#store.readUsageNames(kind, ids)) names.set(`${kind} ${id}`, name);
    }
    await this.#addLive(groups, kinds, names);
    return (kind, id) => this.#ledger.nameBook.nameOf(kind, id) ?? names.get(`${kind} ${id}`) ?? null;
  }
}
