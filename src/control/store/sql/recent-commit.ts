import type { Row } from '../../../shared/entities/entity.ts';
import type { Change, ChangeBatch, FeedPosition } from '../store.ts';
import type { StampedChange } from './change-log.ts';

/** A commit of this node. */
export interface Commit {
  /** The position of the store before it. */
  readonly since: FeedPosition;
  /** The position after it. Its stamp is that of all its lines. */
  readonly position: FeedPosition;
  /** In order; the versions end with that of the position, without gaps. */
  readonly changes: readonly WrittenChange[];
}

/** A change and the row that it leads to; null when it was deleted. */
export interface WrittenChange extends StampedChange {
  readonly row: Row | null;
}

/**
 * The last commit of this node, until it was read: the node follows its own writes without reading and parsing their rows again. Valid
 * only while the store is in the position after the commit.
 */
export class RecentCommit {
  #position: FeedPosition | null = null;
  #since: FeedPosition | null = null;
  #changes: readonly Change[] = [];

  set({ since, position, changes }: Commit): void {
    const rows = new Map<string, Row | null>();
    for (const { entity, id, row } of changes) rows.set(`${entity}/${id}`, row);
    const base = position.version - changes.length;
    this.#changes = changes.map(({ entity, id, operation }, i) => {
      const row = operation === 'delete' ? null : (rows.get(`${entity}/${id}`) ?? null);
      return { version: base + i + 1, entity, id, operation, row };
    });
    this.#since = since;
    this.#position = position;
  }

  /** What `changesSince` returns while the store is in the position `head`; null: it must be read from the store. */
  changesSince(since: FeedPosition, head: FeedPosition, limit: number): ChangeBatch | null {
    const position = this.#position;
    if (position === null || !isSame(position, head)) return null;
    const from = this.#indexAfter(since, position);
    if (from === null) return null;
    const changes = this.#changes.slice(from, from + limit);
    const version = changes.at(-1)?.version ?? since.version;
    if (version === position.version) this.#clear();
    return { changes, position: { ...position, version } };
  }

  /** False: `changesSince` returns null, whatever the position of the store. */
  has(since: FeedPosition): boolean {
    return this.#position !== null && this.#indexAfter(since, this.#position) !== null;
  }

  #indexAfter(since: FeedPosition, position: FeedPosition): number | null {
    if (this.#since !== null && isSame(since, this.#since)) return 0;
    // Within the commit: the position of an earlier batch.
    if (since.store !== position.store || since.stamp !== position.stamp) return null;
    const index = this.#changes.length - (position.version - since.version);
    return index > 0 && index < this.#changes.length ? index : null;
  }

  #clear(): void {
    this.#position = null;
    this.#since = null;
    this.#changes = [];
  }
}

function isSame(one: FeedPosition, other: FeedPosition): boolean {
  return one.version === other.version && one.stamp === other.stamp && one.store === other.store;
}
