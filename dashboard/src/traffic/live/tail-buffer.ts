import type { TrafficRecord } from '../records.ts';

/** Records that the page keeps, and records that wait while it is paused. */
export const maxRecords = 2000;

/** The records that the page shows, newest first, and those that have arrived but are not shown yet. */
export class TailBuffer {
  #shown: readonly TrafficRecord[] = [];
  /** Oldest first. */
  #waiting: TrafficRecord[] = [];
  readonly #ids = new Set<string>();

  get shown(): readonly TrafficRecord[] {
    return this.#shown;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Adds a record that has arrived. The oldest waiting ones make room. */
  add(record: TrafficRecord): void {
    if (this.#ids.has(record.id)) return;
    this.#ids.add(record.id);
    this.#waiting.push(record);
    // In pieces, so that a full queue is not moved with every record.
    if (this.#waiting.length < maxRecords * 1.25) return;
    for (const { id } of this.#waiting.splice(0, this.#waiting.length - maxRecords)) this.#ids.delete(id);
  }

  /** Adds what `GET /traffic` answered, newest first. */
  addAll(records: readonly TrafficRecord[]): void {
    for (const record of records.toReversed()) this.add(record);
    this.#waiting.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  }

  /** Shows what waits. False: nothing has changed. */
  show(): boolean {
    if (this.#waiting.length === 0) return false;
    const all = [...this.#waiting.toReversed(), ...this.#shown];
    for (const { id } of all.slice(maxRecords)) this.#ids.delete(id);
    this.#shown = all.slice(0, maxRecords);
    this.#waiting = [];
    return true;
  }

  clear(): void {
    this.#shown = [];
    this.#waiting = [];
    this.#ids.clear();
  }
}
