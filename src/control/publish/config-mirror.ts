import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../../shared/entities/entity.ts';
import type { TouchedRow } from '../../shared/lookup/calls.ts';
import { type SnapshotDelta, type SnapshotEntity, snapshotEntities } from '../../shared/messages/messages.ts';
import type { Change, ChangeBatch, Dump, FeedPosition } from '../store/store.ts';

type Upserts = Partial<Record<SnapshotEntity, Row[]>>;
type Removes = Partial<Record<SnapshotEntity, string[]>>;

const known: ReadonlySet<string> = new Set(snapshotEntities);
/** In the snapshot, and also looked up by plugins. */
const askedFor: ReadonlySet<string> = new Set(['ca_certificates']);

/** Milliseconds of work between two pauses. */
const pieceTime = 5;

/**
 * The control plane's copy of the config of the workers. A new worker receives it, and the last-good file is written from it,
 * without a query to the database.
 */
export class ConfigMirror {
  position: FeedPosition = { store: '', version: -1, stamp: '' };
  readonly #rows: Readonly<Record<SnapshotEntity, Map<string, Row>>>;

  constructor() {
    const maps = snapshotEntities.map((entity) => [entity, new Map<string, Row>()] as const);
    this.#rows = Object.fromEntries(maps) as Record<SnapshotEntity, Map<string, Row>>;
  }

  /** Replaces everything, and returns the differences. */
  replace(dump: Dump): SnapshotDelta {
    const steps = this.#replace(dump);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** The same for many rows: `pause` is awaited at intervals, and until the end nothing is replaced. */
  async replaceInPieces(dump: Dump, pause: () => Promise<unknown>): Promise<SnapshotDelta> {
    const steps = this.#replace(dump);
    for (let end = performance.now() + pieceTime; ; ) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (performance.now() < end) continue;
      await pause();
      end = performance.now() + pieceTime;
    }
  }

  *#replace(dump: Dump): Generator<void, SnapshotDelta> {
    const upserts: Upserts = {};
    const removes: Removes = {};
    const replaced = new Map<SnapshotEntity, ReadonlyMap<string, Row>>();
    for (const entity of snapshotEntities) {
      const fresh = new Map((dump.entities[entity] ?? []).map((row) => [row.id, row]));
      const rows = this.#rows[entity];
      for (const row of fresh.values()) {
        if (!isDeepStrictEqual(rows.get(row.id), row)) push(upserts, entity, row);
        yield;
      }
      for (const id of rows.keys()) if (!fresh.has(id)) push(removes, entity, id);
      replaced.set(entity, fresh);
    }
    for (const [entity, fresh] of replaced) {
      const rows = this.#rows[entity];
      rows.clear();
      for (const [id, row] of fresh) rows.set(id, row);
    }
    this.position = { store: dump.store, version: dump.version, stamp: dump.stamp };
    return { version: dump.version, full: false, upserts, removes, invalidateAll: true };
  }

  /** Applies changes, oldest first. Null when none of them concerns the data plane. */
  apply({ changes, position }: ChangeBatch): SnapshotDelta | null {
    const last = new Map<string, Change>();
    const touched: TouchedRow[] = [];
    for (const change of changes) {
      if (known.has(change.entity)) last.set(`${change.entity}:${change.id}`, change);
      if (!known.has(change.entity) || askedFor.has(change.entity)) touched.push(touchedRow(change));
    }
    this.position = position;
    if (last.size === 0 && touched.length === 0) return null;
    const upserts: Upserts = {};
    const removes: Removes = {};
    for (const { entity, id, operation, row } of last.values()) {
      const name = entity as SnapshotEntity;
      if (operation === 'upsert' && row !== null) {
        this.#rows[name].set(id, row);
        push(upserts, name, row);
      } else {
        this.#rows[name].delete(id);
        push(removes, name, id);
      }
    }
    return { version: position.version, full: false, upserts, removes, touched };
  }

  /** The whole config, for a new worker. */
  full(): SnapshotDelta {
    const upserts = Object.fromEntries(snapshotEntities.map((entity) => [entity, [...this.#rows[entity].values()]]));
    return { version: this.position.version, full: true, upserts, removes: {} };
  }
}

function touchedRow({ entity, id, operation, row }: Change): TouchedRow {
  const values: Record<string, string> = {};
  for (const [field, value] of Object.entries(row ?? {})) {
    if (typeof value === 'string') values[field] = value;
    else if (typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string') {
      values[field] = value.id;
    }
  }
  return operation === 'upsert' && row === null ? { entity, id, values, unread: true } : { entity, id, values };
}

function push<T>(lists: Partial<Record<SnapshotEntity, T[]>>, entity: SnapshotEntity, item: T): void {
  const list = lists[entity];
  if (list === undefined) lists[entity] = [item];
  else list.push(item);
}
