import type { EntityDefinition, Row } from '../../../../shared/entities/entity.ts';
import type { AdminContext } from '../../crud/admin-context.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../../http/admin-route.ts';
import { plainError } from '../../http/http-error.ts';
import { refuseUnknown } from '../../lists/known-parameters.ts';
import { invalidOptions, invalidSize } from '../../lists/list-errors.ts';
import { type FoundRow, searchRows } from './search-rows.ts';
import { maxQuery, wordsOf } from './search-text.ts';
import { nameOf } from './searched-fields.ts';

const defaultSize = 20;
const maxSize = 100;
/** Rows, and milliseconds, after which a search ends with what it has found. */
const maxRows = 100_000;
const timeout = 1000;
/** Searches at a time: each reads many rows. */
const maxSearches = 4;

/** `GET /search`: entities of all kinds by name, id, path, host, tag, username or address. */
export function searchRoute(context: AdminContext): AdminRoute {
  let running = 0;

  async function search(request: AdminRequest): Promise<Answer> {
    refuseUnknown(request.query, ['q', 'size']);
    const { words, size } = readQuery(request);
    if (running >= maxSearches) throw plainError(503, `More than ${maxSearches} searches at a time; try again`);
    running++;
    try {
      const definitions = context.entities.definitions.filter((one) => isSearched(one, request));
      const { found, read, complete } = await searchRows(context.store, definitions, words, { size, maxRows, timeout });
      const references = new References(context);
      const data: unknown[] = [];
      for (const one of found) data.push(await shown(one, references));
      return ok({ data, read, complete });
    } finally {
      running--;
    }
  }

  return {
    path: '/search',
    tag: 'node',
    operations: {
      GET: {
        access: 'read',
        handle: search,
        notes: {
          summary: 'Entities of all kinds whose name, id, path, host, tag, username or address contains the words',
          answer: 'entity',
          entity: 'search_results',
          queryParameters: [
            {
              name: 'q',
              description: `Words that all have to occur, at most ${maxQuery} characters.`,
              required: true,
              schema: { type: 'string', minLength: 1, maxLength: maxQuery, pattern: '\\S' },
            },
            {
              name: 'size',
              description: 'How many entities to return.',
              schema: { type: 'integer', minimum: 1, maximum: maxSize, default: defaultSize },
            },
          ],
          otherStatuses: [400, 503],
        },
      },
    },
  };
}

function readQuery({ query }: AdminRequest): { readonly words: readonly string[]; readonly size: number } {
  const text = query.first('q') ?? '';
  if (text.length > maxQuery) throw invalidOptions({ q: `must have at most ${maxQuery} characters` });
  const words = wordsOf(text);
  if (words.length === 0) throw invalidOptions({ q: 'must contain a word' });
  const given = query.first('size') ?? String(defaultSize);
  const size = /^\d{1,3}$/.test(given) ? Number(given) : 0;
  if (size < 1 || size > maxSize) throw invalidSize(`size must be an integer between 1 and ${maxSize}`);
  return { words, size };
}

/** Config with a page of its own, or below a parent. Only admins see admin users. */
function isSearched({ name, path, nestedUnder, inConfig }: EntityDefinition, { caller }: AdminRequest): boolean {
  if (name === 'admin_users') return caller.role === 'admin';
  return inConfig && (path !== null || nestedUnder.length > 0) && name !== 'admin_tokens';
}

async function shown({ definition, row, match }: FoundRow, references: References): Promise<unknown> {
  return {
    entity: definition.name,
    id: row.id,
    name: nameOf(definition, row),
    field: match.field,
    value: match.value,
    enabled: row['enabled'] ?? true,
    references: await references.of(definition, row),
  };
}

/** The entities to which rows refer, each read once. */
class References {
  readonly #context: AdminContext;
  readonly #names = new Map<string, Promise<string>>();

  constructor(context: AdminContext) {
    this.#context = context;
  }

  async of({ foreign }: EntityDefinition, row: Row): Promise<readonly unknown[]> {
    const references: unknown[] = [];
    for (const [field, { entity }] of Object.entries(foreign)) {
      const { id } = Object(row[field]) as { readonly id?: unknown };
      if (typeof id === 'string') references.push({ field, entity, id, name: await this.#nameOf(entity, id) });
    }
    return references;
  }

  #nameOf(entity: string, id: string): Promise<string> {
    const key = `${entity} ${id}`;
    const known = this.#names.get(key) ?? this.#read(entity, id);
    this.#names.set(key, known);
    return known;
  }

  async #read(entity: string, id: string): Promise<string> {
    const row = await this.#context.store.get(entity, id);
    return row === null ? id : nameOf(this.#context.entity(entity), row);
  }
}
