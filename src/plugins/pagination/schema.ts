import { compileJsonPath } from '../../plugin-kit/json/index.ts';
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
    style: string({ required: true, one_of: styles, description: 'Style of the backend.' }),
    limit_name: queryName('limit', 'Argument of the backend for the number of items per page.'),
    page_name: queryName('page', 'Style `page`: argument of the backend for the number of the page.'),
    offset_name: queryName('offset', 'Style `offset`: argument of the backend for the number of items to skip.'),
    cursor_name: queryName('cursor', 'Style `cursor`: argument of the backend for the cursor.'),
    before_name: queryName(
      'before',
      "Style `before`: argument of the backend for the key of the previous page's last item.",
    ),
    first_page: integer({ ...page0or1, description: 'Style `page`: the number of the first page.' }),
    max_limit: integer({
      between: [1, 10_000],
      description: 'Maximum number of items that the backend returns per page. Null: `max_limit`.',
    }),
    items: string({
      required: true,
      default: 'data',
      ...pathForm,
      description:
        'Place of the list in its response, a JSONPath (RFC 9535) to one place: `$.data.users`; `$` if the response is the list. A name alone is that member of the response.',
    }),
    next_cursor: string({
      required: true,
      default: 'nextCursor',
      ...pathForm,
      description:
        'Style `cursor`: place of the next cursor in its response, as in `items`. Missing, null or empty: there are no more pages.',
    }),
    key: string({
      required: true,
      default: 'createdAt',
      ...pathForm,
      description: 'Style `before`: place of the key in an item: `$.createdAt`. It must be unique.',
    }),
    total: string({ ...pathForm, description: 'Place of the total number of items in its response: `$.meta.total`.' }),
    total_header: string({
      match: /^[\w-]{1,64}$/,
      description: 'Header with the total number of items: `X-Total-Count`.',
    }),
    has_more: string({
      ...pathForm,
      description: 'Place of a boolean in its response that says whether there are more items.',
    }),
  },
  { description: 'How the backend pages, and the form of its responses.' },
);

const client = record(
  {
    limit_name: queryName('limit', 'Argument of clients for the number of items per page; `size`, `per_page`.'),
    page_name: queryName('page', 'Style `page`: argument of clients for the number of the page.'),
    offset_name: queryName('offset', 'Style `offset`: argument of clients for the number of items to skip.'),
    cursor_name: queryName('cursor', 'Style `cursor`: argument of clients for the cursor.'),
    before_name: queryName(
      'before',
      "Style `before`: argument of clients for the key of the previous page's last item.",
    ),
    first_page: integer({ ...page0or1, description: 'Style `page`: the number of the first page.' }),
    items: string({
      ...pathForm,
      description:
        "Place of the list in responses for clients, a JSONPath (RFC 9535) to one place; `$`: the response is the list. Null: as in the backend's response.",
    }),
    next_cursor: string({
      default: 'nextCursor',
      ...pathForm,
      description: 'Place of the next cursor in responses for clients; null on the last page. Null: only in `Link`.',
    }),
    total: string({
      ...pathForm,
      description:
        "Place of the total number of items in responses for clients, if the backend sends it. Null: as in the backend's response.",
    }),
  },
  { description: 'What clients send, and the form of responses for them.' },
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
    description: 'Styles that clients may use. A request without paging arguments gets links in the first one.',
  }),
  approximate: set(styleField, {
    required: true,
    default: [],
    description:
      'Those of `clients` that the backend can serve only by requesting everything before (`page` and `offset` over `cursor` and `before`). Naming them here allows it; see the table in the README.',
  }),
  max_walk_calls: integer({
    required: true,
    default: 10,
    between: [1, 100],
    description: 'Maximum number of backend requests for one such page. A page further on is answered with 400.',
  }),
  default_limit: integer({
    required: true,
    default: 20,
    between: [1, 10_000],
    description: 'Items per page if the request does not say.',
  }),
  max_limit: integer({
    required: true,
    default: 100,
    between: [1, 10_000],
    description: 'Maximum number of items per page for clients.',
  }),
  above_max: string({
    required: true,
    default: 'refuse',
    one_of: ['refuse', 'clamp'],
    description: 'What happens to a larger limit: `refuse`: 400. `clamp`: it is reduced to the maximum.',
  }),
  links: boolean({
    required: true,
    default: true,
    description: 'Adds `Link` headers (RFC 8288): next, and first, prev and last if they are known.',
  }),
  cursor_ttl: integer({
    required: true,
    default: 0,
    between: [0, 315_360_000],
    unit: 's',
    description: 'Lifetime of a cursor. 0: it does not expire.',
  }),
  secret: string({
    auto: true,
    len_min: 16,
    referenceable: true,
    encrypted: true,
    description:
      'Secret that encrypts cursors; a change invalidates all of them. Null: a random one of each node, until it stops. Set it if there are several nodes, to 16 characters or more.',
  }),
  max_body_bytes: integer({
    required: true,
    default: 1_048_576,
    between: [1024, 8_388_608],
    description: "Maximum size of a backend's response in bytes, after decoding. A larger one is answered with 502.",
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
