import { BodySyntaxError } from '../../plugin-sdk/body-syntax-error.ts';
import {
  isJsonNumber,
  isJsonObject,
  type JsonArray,
  type JsonValue,
  jsonText,
  parseJson,
} from '../../plugin-sdk/json.ts';
import { compileJsonPath, type JsonPath } from '../../plugin-sdk/json-path.ts';
import { type CursorSecret, type Position, sealCursor } from './cursors.ts';
import type { Style } from './exactness.ts';

/*
 * Runs in the helper thread for large answers: arguments and results are copied, nothing here refers to the request.
 */

/** Where things are in the backend's answer. */
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
  /** Where clients find them. */
  readonly client: {
    readonly items: string | null;
    readonly next_cursor: string | null;
    readonly total: string | null;
  };
  readonly asked: number;
  readonly skip: number;
  readonly take: number;
  readonly offset: number | null;
  readonly token: string | null;
  /** Of a header; null: there is none. */
  readonly total: number | null;
  /** Later pages are found by the size of this one: were it short, items would be left out. */
  readonly wantsWhole: boolean;
  /** The backend must not give more than it was asked for: it would give some twice. */
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

/** What is wrong with the backend's answer; nothing of what stands in it. */
export interface Fault {
  readonly fault: string;
  /** It may be a single item rather than a list. */
  readonly noList: boolean;
}

class AnswerFault extends Error {}

class NoList extends AnswerFault {}

/** Makes the client's answer of the backend's. */
export function rewriteAnswer(body: Uint8Array, job: Job): Page | Fault {
  try {
    return rewrite(parseJson(body), job);
  } catch (error) {
    return faultOf(error);
  }
}

/** How many items an answer has, and the token for the next page; null: it is the last. `asked`: items that were asked for. */
export function readPage(
  body: Uint8Array,
  form: AnswerForm,
  asked: number,
): { readonly count: number; readonly token: string | null } | Fault {
  try {
    const answer = parseJson(body);
    const items = itemsOf(answer, form);
    const ends = items.length === 0 || (form.style === 'before' && !moreBehind(answer, items.length, form, asked));
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

/** An answer that is an array has no members, so it is the list, whatever path is configured. */
function placeOfItems(answer: JsonValue, { items }: AnswerForm): string {
  return Array.isArray(answer) ? '$' : items;
}

function totalOf(answer: JsonValue, { backend, total }: Job): number | null {
  const told = backend.total === null ? total : valueAt(answer, backend.total);
  return typeof told === 'number' && Number.isSafeInteger(told) && told >= 0 ? told : null;
}

function checkSize(given: number, shown: number, more: boolean, job: Job): void {
  if (job.wantsNoMore && given > job.asked)
    throw new AnswerFault(`it has ${given} items, and ${job.asked} were asked for`);
  if (job.wantsWhole && more && shown < job.take) {
    throw new AnswerFault(`it has ${given} items, though ${job.asked} were asked for and there are more`);
  }
}

function nextPosition(
  answer: JsonValue,
  items: JsonArray,
  page: JsonArray,
  total: number | null,
  job: Job,
): Position | null {
  const { backend, asked, skip, offset } = job;
  const left = items.length - skip - page.length;
  if (backend.style === 'cursor') {
    const token = tokenAfter(answer, items, backend);
    // It would begin where it ends, for ever.
    return token === null || token === job.token ? null : { token };
  }
  const more = left > 0 || moreBehind(answer, items.length, backend, asked);
  if (backend.style === 'before') return more ? { token: keyOf(page.at(-1) as JsonValue, backend) } : null;
  const end = (offset ?? 0) + page.length;
  if (total !== null) return end < total ? { offset: end } : null;
  return more ? { offset: end } : null;
}

/** What the answer says; when it says nothing, a full page has another one behind it. */
function moreBehind(answer: JsonValue, count: number, { has_more: place }: AnswerForm, asked: number): boolean {
  const said = place === null ? undefined : valueAt(answer, place);
  return typeof said === 'boolean' ? said : count >= asked;
}

function tokenAfter(answer: JsonValue, items: JsonArray, form: AnswerForm): string | null {
  if (form.has_more !== null && valueAt(answer, form.has_more) === false) return null;
  if (form.style === 'before') return keyOf(items.at(-1) as JsonValue, form);
  const value = valueAt(answer, form.next_cursor);
  if (value === undefined || value === null || value === '' || value === false) return null;
  const token = textOf(value);
  if (token === null || token.length > longestToken)
    throw new AnswerFault(`what is at '${form.next_cursor}' is no cursor`);
  return token;
}

const longestToken = 2048;

function keyOf(item: JsonValue, { key }: AnswerForm): string {
  const text = textOf(valueAt(item, key) ?? null);
  if (text === null || text === '' || text.length > longestToken)
    throw new AnswerFault(`an item has no key at '${key}'`);
  return text;
}

/** Texts and numbers, these with all their digits. */
function textOf(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  return isJsonNumber(value) ? jsonText(value) : null;
}

/** The answer as clients know it. Changes the given one. */
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

/** By their text: those of the configuration. */
const paths = new Map<string, JsonPath>();
const mostPaths = 1000;

function pathOf(text: string): JsonPath {
  let known = paths.get(text);
  if (known === undefined) {
    if (paths.size >= mostPaths) paths.clear();
    known = compileJsonPath(text);
    paths.set(text, known);
  }
  return known;
}
