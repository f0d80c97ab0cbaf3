import { type ExampleBackend, type JsonAnswer, type JsonRequest, notFound, startJsonBackend } from './json-backend.ts';

export interface Item {
  readonly id: number;
  readonly name: string;
  /** ISO 8601. */
  readonly created_at: string;
}

const defaultLimit = 10;
const maxLimit = 100;

/**
 * `GET /` lists items in one of three pagination styles, `GET /{id}` shows one:
 * - cursor: `limit`, `cursor`; `nextCursor` continues and is null on the last page;
 * - page: `page` from 1, `limit` or `size`;
 * - time: `before` (a time or an item's id), `limit`: older items, newest first.
 */
export async function startItems(port = 0, count = 25): Promise<ExampleBackend> {
  const items = makeItems(count);
  return await startJsonBackend('items', port, (request) => answerItems(items, request));
}

/** Several items share an instant, as they do in real data: that is what makes paging by time go wrong. */
function makeItems(count: number): readonly Item[] {
  const start = Date.UTC(2026, 0, 1);
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    name: `item-${String(index + 1).padStart(2, '0')}`,
    created_at: new Date(start + Math.floor(index / 2) * 60_000).toISOString(),
  }));
}

function answerItems(items: readonly Item[], request: JsonRequest): JsonAnswer {
  if (request.method !== 'GET') return { status: 405, body: { message: 'Method not allowed' } };
  if (request.path !== '/') {
    const item = items.find((candidate) => `/${candidate.id}` === request.path);
    return item === undefined ? notFound() : { status: 200, body: item };
  }
  const { query } = request;
  const limit = readNumber(query.get('limit') ?? query.get('size'), defaultLimit, maxLimit);
  if (limit === null) return badRequest(`limit must be an integer from 1 to ${maxLimit}`);
  if (query.has('page')) return byPage(items, query.get('page'), limit);
  if (query.has('before')) return byTime(items, query.get('before') ?? '', limit);
  return byCursor(items, query.get('cursor'), limit);
}

function byCursor(items: readonly Item[], cursor: string | null, limit: number): JsonAnswer {
  const after = cursor === null ? 0 : readCursor(cursor);
  if (after === null) return badRequest('cursor is not one that this list gave');
  const rest = items.filter((item) => item.id > after);
  const data = rest.slice(0, limit);
  const last = data.at(-1);
  const nextCursor = last !== undefined && rest.length > limit ? writeCursor(last.id) : null;
  return { status: 200, body: { data, nextCursor } };
}

function byPage(items: readonly Item[], text: string | null, limit: number): JsonAnswer {
  const page = readNumber(text, 1, Number.MAX_SAFE_INTEGER);
  if (page === null) return badRequest('page must be an integer from 1');
  const data = items.slice((page - 1) * limit, page * limit);
  return { status: 200, body: { data, page, limit, total: items.length } };
}

/** `before` is a time, or the id of an item: the id tells items of the same instant apart. */
function byTime(items: readonly Item[], before: string, limit: number): JsonAnswer {
  const known = items.find((item) => String(item.id) === before);
  const time = known?.created_at ?? before;
  if (Number.isNaN(Date.parse(time))) return badRequest('before must be an ISO 8601 time or the id of an item');
  const older = items.filter((item) => {
    const difference = Date.parse(item.created_at) - Date.parse(time);
    return known === undefined ? difference < 0 : difference < 0 || (difference === 0 && item.id < known.id);
  });
  const data = older.toReversed().slice(0, limit);
  const last = data.at(-1);
  const nextCursor = last !== undefined && older.length > limit ? String(last.id) : null;
  return { status: 200, body: { data, nextCursor } };
}

function readNumber(text: string | null, preset: number, max: number): number | null {
  if (text === null) return preset;
  const value = Number(text);
  return Number.isInteger(value) && value >= 1 && value <= max ? value : null;
}

function writeCursor(id: number): string {
  return Buffer.from(`id:${id}`).toString('base64url');
}

function readCursor(cursor: string): number | null {
  const match = /^id:(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
  return match === null ? null : Number(match[1]);
}

function badRequest(message: string): JsonAnswer {
  return { status: 400, body: { message } };
}
