import { compileJsonPath } from '../../plugin-sdk/json-path.ts';
import { array, boolean, type EntityCheck, type Infer, integer, record, set, string } from '../../plugin-sdk/schema.ts';
import { mappingOf, styles } from './exactness.ts';

const names = { page: 'page', limit: 'limit', offset: 'offset', cursor: 'cursor', before: 'before' } as const;

function queryName(name: keyof typeof names, description: string) {
  return string({ required: true, default: names[name], match: /^[\w.[\]$-]{1,64}$/, description });
}

const pathForm = { custom: (text: string) => pathProblem(text) };

function pathProblem(text: string): string | null {
  if (text === '$') return null;
  try {
    return compileJsonPath(text).many ? 'must name one place' : null;
  } catch (error) {
    return error instanceof Error ? error.message : 'is not a path';
  }
}

const page0or1 = { required: true, default: 1, between: [0, 1] } as const;

const backend = record(
  {
    style: string({ required: true, one_of: styles, description: 'How the backend pages.' }),
    limit_name: queryName('limit', 'Its argument for the number of items of a page.'),
    page_name: queryName('page', 'Style `page`: its argument for the number of the page.'),
    offset_name: queryName('offset', 'Style `offset`: its argument for the number of items to pass over.'),
    cursor_name: queryName('cursor', 'Style `cursor`: its argument for what the page before gave.'),
    before_name: queryName(
      'before',
      'Style `before`: its argument for the key of the item that the page before ended with.',
    ),
    first_page: integer({ ...page0or1, description: 'Style `page`: the number of the first page.' }),
    max_limit: integer({
      between: [1, 10_000],
      description: 'The most items of a page that it gives. Null: as many as `max_limit`.',
    }),
    items: string({
      required: true,
      default: 'data',
      ...pathForm,
      description: 'Where the list is in its answer: `data.users`; `$` when the answer is the list.',
    }),
    next_cursor: string({
      required: true,
      default: 'nextCursor',
      ...pathForm,
      description:
        'Style `cursor`: where its answer names the next cursor. Missing, null or empty: there are no more pages.',
    }),
    key: string({
      required: true,
      default: 'createdAt',
      ...pathForm,
      description: 'Style `before`: where the key is in an item. No two items may have the same one.',
    }),
    total: string({ ...pathForm, description: 'Where its answer tells the number of all items.' }),
    total_header: string({
      match: /^[\w-]{1,64}$/,
      description: 'The header in which it tells that: `X-Total-Count`.',
    }),
    has_more: string({ ...pathForm, description: 'Where its answer tells, by true or false, whether there are more.' }),
  },
  { description: 'How the backend pages, and how its answers look.' },
);

const client = record(
  {
    limit_name: queryName('limit', 'The argument for the number of items of a page; `size`, `per_page`.'),
    page_name: queryName('page', 'Style `page`: the argument for the number of the page.'),
    offset_name: queryName('offset', 'Style `offset`: the argument for the number of items to pass over.'),
    cursor_name: queryName('cursor', 'Style `cursor`: the argument for what the page before gave.'),
    before_name: queryName(
      'before',
      'Style `before`: the argument for the key of the item that the page before ended with.',
    ),
    first_page: integer({ ...page0or1, description: 'Style `page`: the number of the first page.' }),
    items: string({
      ...pathForm,
      description: 'Where clients find the list; `$`: the answer is the list. Null: where the backend has it.',
    }),
    next_cursor: string({
      default: 'nextCursor',
      ...pathForm,
      description: 'Where clients find the next cursor, null on the last page. Null: nowhere, the `Link` has it.',
    }),
    total: string({
      ...pathForm,
      description:
        'Where clients find the number of all items, if the backend tells it. Null: where the backend has it.',
    }),
  },
  { description: 'What clients send, and how answers look to them.' },
);

const styleField = string({ one_of: styles, description: 'A style.' });

export const config = record({
  backend,
  client,
  clients: array(styleField, {
    required: true,
    default: ['cursor'],
    len_min: 1,
    len_max: 4,
    description: 'The styles that clients may use. A request without any gets links in the first one.',
  }),
  approximate: set(styleField, {
    required: true,
    default: [],
    description:
      'Of `clients`, those that the backend can serve only by being asked for everything before (`page` and `offset` over `cursor` and `before`). Name them here to have it so; see the table in the README.',
  }),
  max_walk_calls: integer({
    required: true,
    default: 10,
    between: [1, 100],
    description: 'For those: how many requests one may cost. A page further on is answered with 400.',
  }),
  default_limit: integer({
    required: true,
    default: 20,
    between: [1, 10_000],
    description: 'Items of a page for requests that do not say.',
  }),
  max_limit: integer({
    required: true,
    default: 100,
    between: [1, 10_000],
    description: 'The most items of a page that a client may ask for.',
  }),
  above_max: string({
    required: true,
    default: 'refuse',
    one_of: ['refuse', 'clamp'],
    description: 'What a larger limit gets: 400, or as many as allowed.',
  }),
  links: boolean({
    required: true,
    default: true,
    description: 'Answers have `Link` lines (RFC 8288): next, and first, prev and last where they are known.',
  }),
  cursor_ttl: integer({
    required: true,
    default: 0,
    between: [0, 315_360_000],
    unit: 's',
    description: 'Seconds for which a cursor is good; 0: for ever.',
  }),
  secret: string({
    auto: true,
    len_min: 16,
    referenceable: true,
    encrypted: true,
    description:
      'Cursors are encrypted with it; with another one, all are void. Null: a random one of each node, until it stops. Set it where there are several nodes, to 16 characters or more.',
  }),
  max_body_bytes: integer({
    required: true,
    default: 1_048_576,
    between: [1024, 8_388_608],
    description: 'The largest answer of the backend, in bytes, its content coding taken off. A larger one is a 502.',
  }),
});

export type PaginationConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    custom_entity_check: {
      field_sources: ['config.backend', 'config.client', 'config.clients', 'config.approximate', 'config.max_limit'],
      fn: (value) => problemOf(value['config'] as PaginationConfig),
    },
  },
];

function problemOf(config: PaginationConfig): Readonly<Record<string, string>> | null {
  const { backend: own, client: theirs, clients, approximate } = config;
  for (const style of clients) {
    const mapping = mappingOf(style, own.style);
    if (mapping === 'none') return { 'config.clients': `${style} cannot be served by a backend of style ${own.style}` };
    if (mapping === 'walk' && !approximate.includes(style)) {
      return {
        'config.clients': `${style} over a backend of style ${own.style} costs a request for each page before: name it in approximate, too`,
      };
    }
  }
  if (new Set(clients).size < clients.length) return { 'config.clients': 'a style is there twice' };
  const sent = [...clients.map((style) => theirs[`${style}_name`]), theirs.limit_name];
  if (new Set(sent).size < sent.length) return { 'config.client': 'two arguments have the same name' };
  if (config.default_limit > config.max_limit) return { 'config.default_limit': 'must not be above max_limit' };
  if (own.max_limit !== null && own.max_limit < config.max_limit) {
    return { 'config.max_limit': "must not be above the backend's" };
  }
  if (own.style === 'cursor' && own.items === '$') {
    return { 'config.backend': 'an answer that is a list has no place for next_cursor' };
  }
  if (own.next_cursor === '$') return { 'config.backend': 'next_cursor must name a member' };
  if (theirs.next_cursor === '$' || theirs.total === '$') return { 'config.client': '$ is for items only' };
  return null;
}
