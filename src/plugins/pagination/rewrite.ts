import type { JsonPath } from '../../plugin-kit/json/index.ts';
import {
  BodySyntaxError,
  compileJsonPath,
  isJsonNumber,
  isJsonObject,
  type JsonArray,
  type JsonValue,
  jsonText,
  parseJson,
} from '../../plugin-kit/json/index.ts';
import { type CursorSecret, type Position, sealCursor } from './cursors.ts';
import type { Style } from './exactness.ts';

/*
 * Runs in the helper thread for large answers: arguments and results are copied, nothing here refers to the request.
 */

/** Paths in the backend's response. */
export interface AnswerForm {
  readonly style: Style;
  readonly items: string;
  readonly next_cursor: string;
  readonly key: string;
  readonly total: string | null;
  readonly has_more: string | null;
}

export interface Job {
  readonly backend: AnswerForm;
  /** Names in the client's response. */
  readonly client: {
    readonly items: string | null;
    readonly next_cursor: string | null;
    readonly total: string | null;
  };
  readonly requested: number;
  readonly skip: number;
  readonly take: number;
  readonly offset: number | null;
  readonly token: string | null;
  /** From a header; null: absent. */
  readonly total: number | null;
  /** Later pages are computed from the size of this one: a short page would skip items. */
  readonly wantsWhole: boolean;
  /** The backend must not return more items than requested: some would appear twice. */
  readonly wantsNoMore: boolean;
  /** Null: clients get no cursors. */
  readonly cursor: { readonly secret: CursorSecret; readonly list: string; readonly expires: number | null } | null;
}

export interface Page {
  /** The client's answer. */
  readonly text: string;
  /** Items in it. */
  readonly count: number;
  /** Null: it is the last. */
  readonly next: Position | null;
  readonly cursor: string | null;
  readonly total: number | null;
}

/** The problem of the backend's response, without its content. */
export interface Fault {
  readonly fault: string;
  /** It may be a single item rather than a list. */
  readonly noList: boolean;
}

class AnswerFault extends Error {}

class NoList extends AnswerFault {}

/** Converts the backend's response to the client's. */
export function rewriteAnswer(body: Uint8Array, job: Job): Page | Fault {
  try {
    return rewrite(parseJson(body), job);
  } catch (error) {
    return faultOf(error);
  }
}

/** The number of items of a response, and the token for the next page; null: the last page. `requested`: requested items. */
export function readPage(
  body: Uint8Array,
  form: AnswerForm,
  requested: number,
): { readonly count: number; readonly token: string | null } | Fault {
  try {
    const answer = parseJson(body);
    const items = itemsOf(answer, form);
    const ends = items.length === 0 || (form.style === 'before' && !moreBehind(answer, items.length, form, requested));
    return { count: items.length, token: ends ? null : tokenAfter(answer, items, form) };
  } catch (error) {
    return faultOf(error);
  }
}

function faultOf(error: unknown): Fault {
  if (!(error instanceof BodySyntaxError || error instanceof AnswerFault)) throw error;
  return { fault: error.message, noList: error instanceof NoList };
}

function rewrite(answer: JsonValue, job: Job): Page {
  const { backend, cursor: cursors } = job;
  const items = itemsOf(answer, backend);
  const page = items.slice(job.skip, job.skip + job.take);
  const total = totalOf(answer, job);
  const next = page.length === 0 ? null : nextPosition(answer, items, page, total, job);
  checkSize(items.length, page.length, next !== null, job);
  const cursor =
    next === null || cursors === null ? null : sealCursor(cursors.secret, cursors.list, next, cursors.expires);
  return {
    text: jsonText(shaped(answer, page, cursor, total, next !== null, job)),
    count: page.length,
    next,
    cursor,
    total,
  };
}

function itemsOf(answer: JsonValue, form: AnswerForm): JsonArray {
  const place = placeOfItems(answer, form);
  const list = valueAt(answer, place);
  if (!Array.isArray(list)) throw new NoList(`it has no list at '${place}'`);
  return list;
}

/** A response that is an array has no members, so it is the list itself, whatever path is configured. */
function placeOfItems(answer: JsonValue, { items }: AnswerForm): string {
  return Array.isArray(answer) ? '$' : items;
}

function totalOf(answer: JsonValue, { backend, total }: Job): number | null {
  const found = backend.total === null ? total : valueAt(answer, backend.total);
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : null;
}

function checkSize(given: number, shown: number, more: boolean, job: Job): void {
  if (job.wantsNoMore && given > job.requested)
    throw new AnswerFault(`it has ${given} items, and ${job.requested} were requested`);
  if (job.wantsWhole && more && shown < job.take) {
    throw new AnswerFault(`it has ${given} items, though ${job.requested} were requested and there are more`);
  }
}

function nextPosition(
  answer: JsonValue,
  items: JsonArray,
  page: JsonArray,
  total: number | null,
  job: Job,
): Position | null {
  const { backend, requested, skip, offset } = job;
  const left = items.length - skip - page.length;
  if (backend.style === 'cursor') {
    const token = tokenAfter(answer, items, backend);
    // The same token again would loop forever.
    return token === null || token === job.token ? null : { token };
  }
  const more = left > 0 || moreBehind(answer, items.length, backend, requested);
  if (backend.style === 'before') return more ? { token: keyOf(page.at(-1) as JsonValue, backend) } : null;
  const end = (offset ?? 0) + page.length;
  if (total !== null) return end < total ? { offset: end } : null;
  return more ? { offset: end } : null;
}

/** From the response; without information, a full page is followed by another one. */
function moreBehind(answer: JsonValue, count: number, { has_more: place }: AnswerForm, requested: number): boolean {
  const said = place === null ? undefined : valueAt(answer, place);
  return typeof said === 'boolean' ? said : count >= requested;
}

function tokenAfter(answer: JsonValue, items: JsonArray, form: AnswerForm): string | null {
  if (form.has_more !== null && valueAt(answer, form.has_more) === false) return null;
  if (form.style === 'before') return keyOf(items.at(-1) as JsonValue, form);
  const value = valueAt(answer, form.next_cursor);
  if (value === undefined || value === null || value === '' || value === false) return null;
  const token = textOf(value);
  if (token === null || token.length > maxTokenLength)
    throw new AnswerFault(`what is at '${form.next_cursor}' is no cursor`);
  return token;
}

const maxTokenLength = 2048;

function keyOf(item: JsonValue, { key }: AnswerForm): string {
  const text = textOf(valueAt(item, key) ?? null);
  if (text === null || text === '' || text.length > maxTokenLength)
    throw new AnswerFault(`an item has no key at '${key}'`);
  return text;
}

/** Strings, and numbers with all their digits. */
function textOf(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  return isJsonNumber(value) ? jsonText(value) : null;
}

/** The response in the client's form. Modifies the argument. */
function shaped(
  answer: JsonValue,
  page: JsonArray,
  cursor: string | null,
  total: number | null,
  more: boolean,
  { backend, client }: Job,
): JsonValue {
  const given = placeOfItems(answer, backend);
  const itemsAt = client.items ?? given;
  if (itemsAt === '$') return page;
  let shown = answer;
  if (given === '$') shown = {};
  else if (itemsAt !== given) pathOf(given).remove(shown);
  if (backend.style === 'cursor' && backend.next_cursor !== client.next_cursor) remove(shown, backend.next_cursor);
  put(shown, itemsAt, page);
  const totalAt = client.total ?? backend.total;
  if (totalAt !== backend.total && backend.total !== null) remove(shown, backend.total);
  if (totalAt !== null && totalAt !== '$' && total !== null) put(shown, totalAt, total);
  if (backend.has_more !== null && given !== '$') pathOf(backend.has_more).update(shown, () => more);
  if (client.next_cursor !== null) put(shown, client.next_cursor, cursor);
  return shown;
}

function put(shown: JsonValue, path: string, value: JsonValue): void {
  if (pathOf(path).set(shown, value, { create: true }) === 0) throw new AnswerFault(`it has no room at '${path}'`);
}

function remove(shown: JsonValue, path: string): void {
  if (path !== '$') pathOf(path).remove(shown);
}

function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  if (path === '$') return value;
  return isJsonObject(value) || Array.isArray(value) ? pathOf(path).values(value)[0] : undefined;
}

/** By their text, which comes from the configuration. */
const paths = new Map<string, JsonPath>();
const maxPaths = 1000;

/** Parses the paths of a configuration in advance. */
export function readPaths(texts: readonly (string | null)[]): void {
  for (const text of texts) if (text !== null && text !== '$') pathOf(text);
}

function pathOf(text: string): JsonPath {
  let known = paths.get(text);
  if (known === undefined) {
    if (paths.size >= maxPaths) paths.clear();
    known = compileJsonPath(text);
    paths.set(text, known);
  }
  return known;
}
