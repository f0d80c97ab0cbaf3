import { monotonic } from '../../../../shared/util/time/clock.ts';
import { type Ranking, type TopUsage, TopUsageReader, topGroupings } from '../../../overview/top-usage.ts';
import type { Store } from '../../../store/store.ts';
import type { Analytics } from '../../../usage/analytics.ts';
import { isUnavailable } from '../../../usage/store-unavailable.ts';
import type { Grouping, UsageGroup } from '../../../usage/usage-reader.ts';
import { UsageNames } from '../analytics/usage-names.ts';
import type { NamedFilter } from '../analytics/usage-request.ts';
import { nothingUsed, shownGroup, shownNumbers } from '../analytics/usage-view.ts';

type Shown = Readonly<Record<string, unknown>>;
type NameOf = (kind: NamedFilter, id: string) => string | null;
type List = Exclude<keyof typeof topGroupings, 'totals'>;

/** Milliseconds for which names are cached. */
const nameLifetime = 10_000;
const rankings = ['routes', 'services', 'consumers'] as const;

/** The most used routes, services and consumers of the last minutes, as JSON. */
export class UsagePart {
  readonly #reader: TopUsageReader;
  readonly #names: UsageNames;
  readonly #known = new Map<string, string | null>();
  #knownSince = monotonic();

  constructor(analytics: Analytics, store: Store) {
    this.#reader = new TopUsageReader(analytics);
    this.#names = new UsageNames(store, analytics.ledger);
  }

  /** `startedAt`: when the node began, milliseconds since the epoch. */
  async read(startedAt: number): Promise<Shown | null> {
    await this.#reader.refresh();
    const { latest } = this.#reader;
    return latest === null ? null : this.#shown(latest, startedAt);
  }

  async #shown(usage: TopUsage, startedAt: number): Promise<Shown> {
    const { from, to, totals, statuses, limited } = usage;
    const shown: Record<string, unknown> = {
      from: Math.max(from, startedAt) / 1000,
      to: to / 1000,
      totals: shownNumbers(totals ?? { usage: nothingUsed, clientErrors: 0, serverErrors: 0 }),
      statuses: this.#rows(statuses, 'statuses', () => null),
    };
    for (const list of rankings) {
      const ranking = usage[list];
      const nameOf = await this.#nameOf(Object.values(ranking).flat(), topGroupings[list]);
      shown[list] = this.#ranked(ranking, list, nameOf);
    }
    shown['limited'] = this.#rows(limited, 'limited', await this.#nameOf(limited, topGroupings.limited));
    return shown;
  }

  #ranked({ requests, errors, latency }: Ranking, list: List, nameOf: NameOf): Shown {
    return {
      by_requests: this.#rows(requests, list, nameOf),
      by_errors: this.#rows(errors, list, nameOf),
      by_latency: this.#rows(latency, list, nameOf),
    };
  }

  #rows(groups: readonly UsageGroup[], list: List, nameOf: NameOf): readonly Shown[] {
    return groups.map((group) => shownGroup(group, topGroupings[list], nameOf));
  }

  /** While the store is unavailable, new ids are shown without names. */
  async #nameOf(groups: readonly UsageGroup[], grouping: Grouping): Promise<NameOf> {
    const now = monotonic();
    if (now - this.#knownSince > nameLifetime) {
      this.#known.clear();
      this.#knownSince = now;
    }
    const kinds = grouping.by.filter((dimension) => dimension !== 'status') as readonly NamedFilter[];
    const missing = groups.filter(({ key }) => kinds.some((kind) => !this.#known.has(`${kind} ${key[kind]}`)));
    if (missing.length > 0) {
      try {
        const nameOf = await this.#names.of(missing, grouping);
        for (const { key } of missing) {
          for (const kind of kinds) this.#known.set(`${kind} ${key[kind]}`, nameOf(kind, key[kind]));
        }
      } catch (error) {
        if (!isUnavailable(error)) throw error;
      }
    }
    return (kind, id) => this.#known.get(`${kind} ${id}`) ?? null;
  }
}
