import type { UsageLedger } from '../../../analytics/usage-ledger.ts';
import type { UsageFilter, UsageGroup } from '../../../analytics/usage-reader.ts';
import { other } from '../../../observability/analytics/series-key.ts';
import type { StoreReader } from '../../../store/store.ts';
import type { UsageStore } from '../../../store/usage-store.ts';
import type { NamedFilter, UsageAsked } from './usage-request.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Unique fields that name an entity. */
const nameFields: Readonly<Record<NamedFilter, readonly string[]>> = {
  route: ['name'],
  service: ['name'],
  consumer: ['username', 'custom_id'],
};

/** Translates between ids, which usage is kept by, and names, also those of entities that are gone. */
export class UsageNames {
  readonly #store: StoreReader & UsageStore;
  readonly #ledger: UsageLedger;

  constructor(store: StoreReader & UsageStore, ledger: UsageLedger) {
    this.#store = store;
    this.#ledger = ledger;
  }

  /** What is asked about, by ids. A name that nothing has or had matches nothing. */
  async filter({ range, named, plain, statuses }: UsageAsked): Promise<UsageFilter> {
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
    return [...new Set([...ids, ...this.#ledger.idsNamed(kind, value)])];
  }

  /** Names of all ids in the groups, by kind and id. */
  async of(groups: readonly UsageGroup[]): Promise<(kind: NamedFilter, id: string) => string | null> {
    const names = new Map<string, string>();
    for (const kind of Object.keys(nameFields) as NamedFilter[]) {
      const ids = [...new Set(groups.map(({ key }) => key[kind]))].filter((id) => id !== '' && id !== other);
      for (const { id, name } of await this.#store.readUsageNames(kind, ids)) names.set(`${kind} ${id}`, name);
    }
    return (kind, id) => this.#ledger.newName(kind, id) ?? names.get(`${kind} ${id}`) ?? null;
  }
}
