import { Readable } from 'node:stream';
import type { Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import { foreignId } from '../../../shared/entities/row-fields.ts';
import { entityLabel, type FindRow } from '../../declarative/apply/entity-label.ts';
import type { EntityChange } from '../../declarative/contract.ts';
import type { VersionChange } from '../../store/history.ts';
import type { StoreReader } from '../../store/store.ts';
import { shownDifference } from '../audit/shown-difference.ts';
import type { Answer } from '../http/admin-route.ts';

/** Numbers of entities by what happens to them, and by kind. */
export interface ShownCounts {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** By schema name. */
  readonly entities: Readonly<Record<string, { created: number; updated: number; deleted: number }>>;
}

const counted = { create: 'created', update: 'updated', delete: 'deleted' } as const;

export function countsOf(changes: readonly Pick<EntityChange, 'operation' | 'entity'>[]): ShownCounts {
  const counts = { created: 0, updated: 0, deleted: 0 };
  const entities: Record<string, { created: number; updated: number; deleted: number }> = {};
  for (const { operation, entity } of changes) {
    entities[entity] ??= { created: 0, updated: 0, deleted: 0 };
    entities[entity][counted[operation]]++;
    counts[counted[operation]]++;
  }
  return { ...counts, entities };
}

/** A change for people: what differs, without secrets. */
export function shownChange(
  entities: EntityRegistry,
  change: Pick<EntityChange, 'operation' | 'entity' | 'id' | 'before' | 'after'> & Partial<EntityChange>,
): Readonly<Record<string, unknown>> {
  const { operation, entity, id, label, fields, before, after } = change;
  const definition = entities.byName(entity);
  return {
    operation,
    entity,
    id,
    ...(label === undefined ? {} : { label }),
    ...(fields === undefined || fields.length === 0 ? {} : { fields }),
    ...(definition === undefined ? {} : shownDifference(definition, { before, after })),
  };
}

/** The changes of a version, with the names of what they belong to. */
export async function shownVersionChanges(
  store: StoreReader,
  entities: EntityRegistry,
  changes: readonly VersionChange[],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows = new Map<string, Row | null>();
  for (const { entity, id, before, after } of changes) rows.set(`${entity}/${id}`, after ?? before);
  for (const change of changes) {
    const row = change.after ?? change.before;
    for (const [field, { entity }] of Object.entries(entities.byName(change.entity)?.foreign ?? {})) {
      const id = row === null ? null : foreignId(row, field);
      if (id === null || rows.has(`${entity}/${id}`)) continue;
      rows.set(`${entity}/${id}`, await store.get(entity, id));
    }
  }
  const find: FindRow = (entity, id) => rows.get(`${entity}/${id}`) ?? null;
  return changes.map((change) => {
    const definition = entities.byName(change.entity);
    const row = change.after ?? change.before;
    const label =
      definition === undefined || row === null ? {} : { label: entityLabel(entities, definition, row, find) };
    return { seq: change.seq, ...shownChange(entities, { ...change, ...label }) };
  });
}

const shownAtOnce = 100;

/**
 * The text of an object whose last member is a list of changes, in pieces: the list may be long, and other work runs between two
 * pieces of a stream.
 */
export function* textOfChanges(
  head: Readonly<Record<string, unknown>>,
  changes: readonly Readonly<Record<string, unknown>>[] | Iterable<Readonly<Record<string, unknown>>>,
): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)}${Object.keys(head).length === 0 ? '' : ','}"changes":[`;
  let piece: string[] = [];
  let first = true;
  for (const change of changes) {
    piece.push(JSON.stringify(change));
    if (piece.length < shownAtOnce) continue;
    yield `${first ? '' : ','}${piece.join(',')}`;
    first = false;
    piece = [];
  }
  yield `${first || piece.length === 0 ? '' : ','}${piece.join(',')}]}`;
}

/** An object with the members of `head` and these changes. */
export function changesAnswer(
  entities: EntityRegistry,
  head: Readonly<Record<string, unknown>>,
  changes: readonly EntityChange[],
): Answer {
  function* listed(): Generator<Readonly<Record<string, unknown>>> {
    for (const change of changes) yield shownChange(entities, change);
  }
  return {
    status: 200,
    stream: { type: 'application/json; charset=utf-8', body: Readable.from(textOfChanges(head, listed())) },
  };
}
