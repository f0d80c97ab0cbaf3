import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { Position } from '../../store/position.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Direction } from './cursor-token.ts';
import { iterateRows } from './iterate-rows.ts';
import type { ListSource, PageQuery } from './list-page.ts';

/** One tag of one entity. */
export interface TaggedEntity {
  readonly entity: string;
  readonly id: string;
  readonly createdAt: number;
  readonly tag: string;
}

/**
 * Tags of all entities as one list, in the order of their entities' `(created_at, id)` and then of the tags' text. The
 * position in the list is that of the entity, its id followed by `#` and the tag.
 */
export function tagListSource(
  reader: StoreReader,
  definitions: readonly EntityDefinition[],
  tag: string | undefined,
): ListSource<TaggedEntity> {
  const tagged = definitions.filter(({ schema }) => schema.fields.has('tags'));
  return {
    kongDirection: 'asc',
    read: (query) => readTags(reader, tagged, tag, query),
    position: (item) => ({ createdAt: item.createdAt, id: `${item.id}#${encodeURIComponent(item.tag)}` }),
    present: async (items) => items.map((item) => ({ entity_name: item.entity, entity_id: item.id, tag: item.tag })),
    async find(id) {
      for (const { name } of tagged) {
        const row = await reader.get(name, id);
        if (row !== null) return { createdAt: row.created_at, id: `${id}#` };
      }
      return null;
    },
  };
}

async function readTags(
  reader: StoreReader,
  definitions: readonly EntityDefinition[],
  tag: string | undefined,
  query: PageQuery,
): Promise<readonly TaggedEntity[]> {
  const direction = query.order ?? 'asc';
  const found: TaggedEntity[] = [];
  let toSkip = query.skip ?? 0;
  for await (const { entity, row } of mergedRows(reader, definitions, tag, query)) {
    for (const item of tagsOf(entity, row, tag, direction)) {
      if (query.after !== undefined && !isAfter(item, query.after, direction)) continue;
      if (toSkip > 0) toSkip -= 1;
      else if (found.push(item) === query.limit) return found;
    }
  }
  return found;
}

interface EntityRow {
  readonly entity: string;
  readonly row: Row;
}

/** Merges the rows of several entities into one order. */
async function* mergedRows(
  reader: StoreReader,
  definitions: readonly EntityDefinition[],
  tag: string | undefined,
  query: PageQuery,
): AsyncGenerator<EntityRow> {
  const order = query.order ?? 'asc';
  const after = query.after === undefined ? undefined : beforeEntity(query.after, order);
  const rowsQuery = {
    order,
    ...(tag === undefined ? {} : { tags: { all: true, names: [tag] } }),
    ...(after === undefined ? {} : { after }),
    ...(query.createdBefore === undefined ? {} : { createdBefore: query.createdBefore }),
  };
  const streams = await Promise.all(
    definitions.map(async ({ name }) => {
      const rows = iterateRows(reader, name, rowsQuery, query.limit);
      return { entity: name, rows, next: await rows.next() };
    }),
  );
  for (;;) {
    let first: (typeof streams)[number] | undefined;
    for (const stream of streams) {
      if (stream.next.done === true) continue;
      if (first === undefined || comesBefore(stream.next.value, first.next.value as Row, order)) first = stream;
    }
    if (first === undefined) return;
    yield { entity: first.entity, row: first.next.value as Row };
    first.next = await first.rows.next();
  }
}

/** A position just before the entity within whose tags the page ended, for the rest of its tags. */
function beforeEntity(position: Position, order: Direction): Position {
  const id = entityIdOf(position);
  return { createdAt: position.createdAt, id: order === 'asc' ? id.slice(0, -1) : `${id}~` };
}

function comesBefore(a: Row, b: Row, order: Direction): boolean {
  const comparison = a.created_at - b.created_at || compareText(a.id, b.id);
  return order === 'asc' ? comparison < 0 : comparison > 0;
}

function tagsOf(entity: string, row: Row, tag: string | undefined, direction: Direction): readonly TaggedEntity[] {
  const tags = Array.isArray(row['tags']) ? row['tags'].filter((item) => typeof item === 'string') : [];
  const wanted = [...new Set(tags)].filter((item) => tag === undefined || item === tag).sort(compareText);
  if (direction === 'desc') wanted.reverse();
  return wanted.map((item) => ({ entity, id: row.id, createdAt: row.created_at, tag: item }));
}

function isAfter(item: TaggedEntity, position: Position, direction: Direction): boolean {
  const comparison =
    item.createdAt - position.createdAt ||
    compareText(item.id, entityIdOf(position)) ||
    compareText(item.tag, tagOf(position));
  return direction === 'asc' ? comparison > 0 : comparison < 0;
}

function entityIdOf(position: Position): string {
  return position.id.split('#', 1)[0] ?? '';
}

function tagOf(position: Position): string {
  const mark = position.id.indexOf('#');
  try {
    return mark === -1 ? '' : decodeURIComponent(position.id.slice(mark + 1));
  } catch {
    return '';
  }
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
