import type { Position } from '../../store/position.ts';
import type { ListQuery } from '../../store/store.ts';
import { type Cursor, type Direction, encodeCursor } from './cursor-token.ts';
import { invalidOptions } from './list-errors.ts';
import type { Before, ListRequest } from './list-request.ts';

/** The part of a list query that paging decides. */
export type PageQuery = Pick<ListQuery, 'order' | 'after' | 'createdBefore' | 'skip' | 'limit'>;

/** Anything that is listed in the order of `(created_at, id)`. */
export interface ListSource<Item> {
  read(query: PageQuery): Promise<readonly Item[]>;
  position(item: Item): Position;
  present(items: readonly Item[]): Promise<readonly unknown[]>;
  /** The position of the item with that id, or null when the collection has no such item. */
  find(id: string): Promise<Position | null>;
  /** The order of Kong's own style; the other styles are always oldest first, and `before` is newest first. */
  readonly kongDirection: Direction;
}

/** The parts of the link to the next page. */
export interface ListLinks {
  /** Path of the collection as the client sent it, without a trailing slash. */
  readonly path: string;
  /** The `tags` parameter, for the link; undefined when the collection has no such filter. */
  readonly tags: string | undefined;
  /** Kong leaves `size` out of the links of nested lists. */
  readonly nested: boolean;
  /** Other filter parameters, for the link. Default: none. */
  readonly filters?: readonly (readonly [name: string, value: string])[];
}

export interface ListBody {
  readonly data: readonly unknown[];
  /** Path of the next page, or null on the last one. */
  readonly next: string | null;
  /** Absent on the last page: clients written for Kong continue while it is present. */
  readonly offset?: string;
  /** Marks the last item returned; null on the last page. */
  readonly nextCursor: string | null;
}

export async function readListPage<Item>(
  source: ListSource<Item>,
  request: ListRequest,
  links: ListLinks,
): Promise<ListBody> {
  const { direction, start } = await startOf(source, request);
  // One more than requested, to know whether there is a next page.
  const found = await source.read({ order: direction, ...start, limit: request.limit + 1 });
  const items = found.slice(0, request.limit);
  const data = await source.present(items);
  const last = items.at(-1);
  if (found.length <= request.limit || last === undefined) return { data, next: null, nextCursor: null };
  const token = encodeCursor({ position: source.position(last), direction });
  return { data, next: nextLink(request, links, token), offset: token, nextCursor: token };
}

interface Start {
  readonly direction: Direction;
  readonly start: Pick<PageQuery, 'after' | 'createdBefore' | 'skip'>;
}

async function startOf<Item>(source: ListSource<Item>, request: ListRequest): Promise<Start> {
  if (request.style === 'page') {
    return { direction: 'asc', start: { skip: (request.page - 1) * request.limit } };
  }
  if (request.style === 'time') return startBefore(source, request.before);
  if (request.cursor !== null) return resume(request.cursor);
  return { direction: request.style === 'kong' ? source.kongDirection : 'asc', start: {} };
}

async function startBefore<Item>(source: ListSource<Item>, before: Before): Promise<Start> {
  if (before.kind === 'cursor') return resume(before.cursor);
  if (before.kind === 'instant') return { direction: 'desc', start: { createdBefore: before.milliseconds } };
  const position = await source.find(before.id);
  if (position === null) throw invalidOptions({ before: `there is no item with id '${before.id}' in this list` });
  return { direction: 'desc', start: { after: position } };
}

function resume(cursor: Cursor): Start {
  return { direction: cursor.direction, start: { after: cursor.position } };
}

function nextLink(request: ListRequest, links: ListLinks, token: string): string {
  const parameters: string[] = [];
  if (request.style === 'kong') parameters.push(`offset=${token}`);
  else if (request.style === 'page') parameters.push(`page=${request.page + 1}`);
  else parameters.push(`cursor=${token}`);
  if (links.tags !== undefined) parameters.push(`tags=${encodeURIComponent(links.tags)}`);
  for (const [name, value] of links.filters ?? []) parameters.push(`${name}=${encodeURIComponent(value)}`);
  if (request.style === 'page') {
    if (request.sizeName !== null) parameters.push(`${request.sizeName}=${request.limit}`);
  } else if (request.style !== 'kong') parameters.push(`limit=${request.limit}`);
  else if (request.sizeGiven && !links.nested) parameters.push(`size=${request.limit}`);
  return `${links.path}?${parameters.join('&')}`;
}
