import { setImmediate as nextTurn } from 'node:timers/promises';
import { other, readKey } from '../observability/analytics/series-key.ts';
import type { NameKind, UsageName } from '../observability/analytics/usage-recorder.ts';
import type { UsageStore } from '../store/usage-store.ts';
import { isAway } from './store-away.ts';

/** Names are written again after so long, milliseconds: who is in use is not forgotten. */
const renewal = 86_400_000;
/** Names that wait to be written, and ids that are remembered, at most. */
const mostWaiting = 20_000;
const mostRemembered = 100_000;
const writtenAtOnce = 500;

interface WaitingName {
  readonly kind: NameKind;
  readonly id: string;
  readonly name: string;
  /** How often it has been there when names were written. */
  age: number;
}

/**
 * What ids are called. Names are kept of those that have a row of their own by the day: of these there are not more than the rows, however
 * many consumers come by.
 */
export class NameBook {
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
      if (this.#waiting.size < mostWaiting) this.#waiting.set(textOf(kind, id), { kind, id, name, age: 0 });
    }
  }

  /** There is a row by the day with this key. */
  noteRow(text: string): void {
    if (this.#withRow.size > mostRemembered) this.#withRow.clear();
    const { route, service, consumer } = readKey(text);
    for (const [kind, id] of [
      ['route', route],
      ['service', service],
      ['consumer', consumer],
    ] as const) {
      if (id !== '' && id !== other) this.#withRow.add(textOf(kind, id));
    }
  }

  /** The name of an id that has not been written yet. */
  nameOf(kind: NameKind, id: string): string | null {
    return this.#waiting.get(textOf(kind, id))?.name ?? null;
  }

  /** Ids of that name, of those that have not been written yet. */
  idsOf(kind: NameKind, name: string): readonly string[] {
    return [...this.#waiting.values()].flatMap((one) => (one.kind === kind && one.name === name ? [one.id] : []));
  }

  /** To be called when the rows are written. Rejects when the store does not take them. */
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
        if (!isAway(error)) this.#forget(some);
        throw error;
      }
      this.#forget(some);
      if (this.#written.size > mostRemembered) this.#written.clear();
      for (const { kind, id, name } of some) this.#written.set(textOf(kind, id), { name, at: seen });
      await nextTurn();
    }
    // A name may come a little before its row.
    for (const [text, name] of this.#waiting) if (++name.age > 2) this.#waiting.delete(text);
  }

  #forget(names: readonly WaitingName[]): void {
    for (const name of names) {
      const text = textOf(name.kind, name.id);
      if (this.#waiting.get(text) === name) this.#waiting.delete(text);
    }
  }
}

function textOf(kind: NameKind, id: string): string {
  return `${kind} ${id}`;
}

/** PostgreSQL takes neither NUL nor halves of characters. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
