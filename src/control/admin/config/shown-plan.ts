import { Readable } from 'node:stream';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { EntityChange } from '../../declarative/contract.ts';
import type { VersionChange } from '../../store/history.ts';
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

export function shownVersionChange(
  entities: EntityRegistry,
  { operation, entity, id, before, after }: VersionChange,
): Readonly<Record<string, unknown>> {
  return shownChange(entities, { operation, entity, id, before, after });
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
