import { defaultLimit, maxLimit, maxPage } from '../lists/list-request.ts';
import type { JsonObject } from './json-object.ts';

const count = { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit };

/** An opaque token from an earlier answer. */
const token = '^[A-Za-z0-9_=-]+$';

const properties = {
  size: { ...count, description: 'Items per page, in the style of Kong.' },
  offset: { type: 'string', pattern: token, description: '`offset` of the previous page: continues after it.' },
  limit: { ...count, description: 'Items per page. On its own it starts paging by cursor.' },
  cursor: {
    type: 'string',
    pattern: token,
    description: '`nextCursor` of the previous page: continues after its last item.',
  },
  page: { type: 'integer', minimum: 1, maximum: maxPage, description: 'Number of the page, from 1.' },
  before: {
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'uuid' },
    ],
    description: 'A timestamp or the id of an item: only older items, newest first. Continues with `cursor`.',
  },
};

/** Styles exclude each other; a client that mixes them is refused. */
const styles: readonly (readonly (keyof typeof properties)[])[] = [
  ['size', 'offset'],
  ['limit', 'cursor'],
  ['page', 'limit'],
  ['before', 'limit'],
];

/** Query parameters of the four paging styles, and the tags filter. */
export const listParameters: JsonObject = {
  paging: {
    name: 'paging',
    in: 'query',
    description: 'Query arguments of one paging style: each property is a separate argument.',
    style: 'form',
    explode: true,
    schema: {
      anyOf: styles.map((names) => ({
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
        additionalProperties: false,
      })),
    },
  },
  tags: query('tags', '`a,b`: items with all of the tags; `a/b`: items with any of them. At most 5.', {
    type: 'string',
    pattern: '^[^,/]+(?:(?:,[^,/]+){0,4}|(?:/[^,/]+){0,4})$',
  }),
};

function query(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: 'query', description, schema };
}

/** Only entities have tags. */
const untagged: ReadonlySet<string> = new Set(['/tags', '/audit', '/traffic']);

/** Lists below another entity, and lists of other things than entities, do not filter by tags. */
export function listParameterRefs(path: string): readonly JsonObject[] {
  const filtered = /^\/[^/]+$/.test(path) && !untagged.has(path);
  return Object.keys(listParameters)
    .filter((name) => name !== 'tags' || filtered)
    .map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
