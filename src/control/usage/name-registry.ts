import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { other, readKey } from '../../shared/usage/series-key.ts';
import type { NameKind, UsageName } from '../../shared/usage/usage-name.ts';
import type { UsageStore } from '../store/usage-store.ts';
import { isUnavailable } from './store-unavailable.ts';

/** Milliseconds after which a name is written again, so that the store does not remove names in use. */
const renewal = 86_400_000;
/** Maximum names that are not written yet, and maximum cached ids. */
const maxWaiting = 20_000;
const maxCached = 100_000;
const writtenAtOnce = 500;

interface WaitingName {
  readonly kind: NameKind;
  readonly id: string;
  readonly name: string;
  /** How many writes it has waited for. */
  age: number;
}

/**
 * The names of ids. Only names of ids with a row of their own by the day are stored, so there are not more names than rows, however
 * many consumers there are.
 */
export class NameRegistry {
  readonly #store: UsageStore;
  readonly #now: () => number;
  #waiting = new Map<string, WaitingName>();
  readonly #written = new Map<string, { readonly name: string; readonly at: number }>();
  readonly #withRow = new Set<string>();

  constructor(store: UsageStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  add(names: readonly UsageName[]): void {
    const now = this.#now();
    for (const [kind, id, name] of names) {
      const written = this.#written.get(textOf(kind, id));
      if (written !== undefined && written.name === name && now - written.at < renewal) continue;
      if (this.#waiting.size < maxWaiting) this.#waiting.set(textOf(kind, id), { kind, id, name, age: 0 });
    }
  }

  /** Records that a row by the day with this key exists. */
  noteRow(text: string): void {
    if (this.#withRow.size > maxCached) this.#withRow.clear();
    const { route, service, consumer } = readKey(text);
    for (const [kind, id] of [
      ['route', route],
      ['service', service],
      ['consumer', consumer],
    ] as const) {
      if (id !== '' && id !== other) this.#withRow.add(textOf(kind, id));
    }
  }

  /** The name of an id, if it has not been written yet. */
  nameOf(kind: NameKind, id: string): string | null {
    return this.#waiting.get(textOf(kind, id))?.name ?? null;
  }

  /** Ids with that name, among those that have not been written yet. */
  idsOf(kind: NameKind, name: string): readonly string[] {
    return [...this.#waiting.values()].flatMap((one) => (one.kind === kind && one.name === name ? [one.id] : []));
  }

  /** Call it when the rows are written. Rejects when the store is unavailable or refuses them. */
  async write(): Promise<void> {
    const due = [...this.#waiting.values()].filter(({ kind, id }) => this.#withRow.has(textOf(kind, id)));
    const seen = this.#now();
    for (let at = 0; at < due.length; at += writtenAtOnce) {
      const some = due.slice(at, at + writtenAtOnce);
      try {
        await this.#store.putUsage(
          [],
          some.map(({ kind, id, name }) => ({ kind, id, name: storable(name), seen })),
        );
      } catch (error) {
        if (!isUnavailable(error)) this.#discard(some);
        throw error;
      }
      this.#discard(some);
      if (this.#written.size > maxCached) this.#written.clear();
      for (const { kind, id, name } of some) this.#written.set(textOf(kind, id), { name, at: seen });
      await yieldToEvents();
    }
    // A name may arrive a little before its row.
    for (const [text, name] of this.#waiting) if (++name.age > 2) this.#waiting.delete(text);
  }

  #discard(names: readonly WaitingName[]): void {
    for (const name of names) {
      const text = textOf(name.kind, name.id);
      if (this.#waiting.get(text) === name) this.#waiting.delete(text);
    }
  }
}

function textOf(kind: NameKind, id: string): string {
  return `${kind} ${id}`;
}

/** PostgreSQL accepts neither NUL nor lone surrogates. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
