import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { entityMark } from '../../shared/zones/worker-vitals.ts';

/** Plugin instances, by their marks, whose `setup` did not return. Workers leave them out until their rows change. */
export class Quarantine {
  readonly #marks = new Set<number>();

  add(mark: number): void {
    this.#marks.add(mark);
  }

  list(): readonly number[] {
    return [...this.#marks];
  }

  /** The code of these instances is another one now. */
  forgive(ids: readonly string[]): void {
    for (const id of ids) this.#marks.delete(entityMark(id));
  }

  /** A plugin whose configuration changed is tried again. `json`: a `SnapshotDelta`. */
  release(json: string): void {
    if (this.#marks.size === 0) return;
    const { upserts, removes } = JSON.parse(json) as SnapshotDelta;
    for (const { id } of upserts.plugins ?? []) this.#marks.delete(entityMark(id));
    for (const id of removes.plugins ?? []) this.#marks.delete(entityMark(id));
  }
}
