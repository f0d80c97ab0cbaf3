import { consumerView, type EntityAccess, type EntityRow } from '../../plugin-sdk/entity-access.ts';
import type { ConsumerView } from '../../plugin-sdk/request-views.ts';

/** Claims of a token. */
export type Claims = Readonly<Record<string, unknown>>;

/** Fields of a consumer that a claim can name it by. */
export type ConsumerField = 'id' | 'username' | 'custom_id';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const controls = /[\0-\x1f\x7f]/;

/** The claim at a path of nested names; undefined if there is none. */
export function claimAt(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

/** A claim that lists names: a string with spaces between them (RFC 6749, 3.3), or an array of strings. */
export function claimList(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(' ').filter((name) => name !== '');
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

/** A claim as one text; null if it is absent, empty, or has a control character. */
export function claimText(value: unknown): string | null {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === undefined || text === '' || value === null || controls.test(text) ? null : text;
}

/** True if `has` contains all words of one of the alternatives: `['read write', 'admin']`. True without alternatives. */
export function hasOneOf(has: readonly string[], alternatives: readonly string[] | null): boolean {
  if (alternatives === null || alternatives.length === 0) return true;
  return alternatives.some((wanted) => wanted.split(' ').every((word) => word === '' || has.includes(word)));
}

/** The consumer with this value in the first of these fields that matches. `client`: see `EntityAccess.find`. */
export function consumerBy(
  entities: EntityAccess,
  fields: readonly ConsumerField[],
  value: string,
  client = '',
  from = 0,
): ConsumerView | null | Promise<ConsumerView | null> {
  for (let at = from; at < fields.length; at += 1) {
    const field = fields[at]!;
    if (field === 'id' && !uuid.test(value)) continue;
    const found = entities.find('consumers', field, value, client);
    if (found instanceof Promise) return found.then((row) => orNext(entities, fields, value, client, at, row));
    if (found !== null) return consumerView(found);
  }
  return null;
}

function orNext(
  entities: EntityAccess,
  fields: readonly ConsumerField[],
  value: string,
  client: string,
  at: number,
  row: EntityRow | null,
): ConsumerView | null | Promise<ConsumerView | null> {
  return row === null ? consumerBy(entities, fields, value, client, at + 1) : consumerView(row);
}
