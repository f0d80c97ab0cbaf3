import { defaultLimit, maxLimit, maxPage } from '../lists/list-request.ts';
import type { JsonObject } from './build-openapi.ts';

const count = { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit };

/** Query parameters of the four paging styles, and the tags filter. */
export const listParameters: JsonObject = {
  size: query('size', 'Items on a page, in the style of Kong.', count),
  offset: query('offset', '`offset` of the page before: goes on after it.', { type: 'string' }),
  limit: query('limit', 'Items on a page. Alone it starts a walk by cursor.', count),
  cursor: query('cursor', '`nextCursor` of the page before: goes on after its last item.', { type: 'string' }),
  page: query('page', 'Number of the page, from 1.', { type: 'integer', minimum: 1, maximum: maxPage }),
  before: query('before', 'An ISO 8601 timestamp or the id of an item: only older items, newest first.', {
    type: 'string',
  }),
  tags: query('tags', '`a,b`: items with all of the tags; `a/b`: items with any of them. At most 5.', {
    type: 'string',
  }),
};

function query(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: 'query', description, schema };
}

/** What is no entity has no tags. */
const untagged: ReadonlySet<string> = new Set(['/tags', '/audit']);

/** Lists below another entity, and those of what is no entity, do not filter by tags. */
export function listParameterRefs(path: string): readonly JsonObject[] {
  const filtered = /^\/[^/]+$/.test(path) && !untagged.has(path);
  return Object.keys(listParameters)
    .filter((name) => name !== 'tags' || filtered)
    .map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
