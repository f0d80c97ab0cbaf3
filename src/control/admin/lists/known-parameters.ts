import type { Query } from '../http/query.ts';
import { invalidOptions } from './list-errors.ts';

/** Paging parameters of all lists. */
export const pagingNames: readonly string[] = ['size', 'limit', 'offset', 'cursor', 'page', 'before'];

/**
 * For lists that only Sluicegate has: a misspelt filter must not return everything. Lists that Kong has ignore unknown parameters, as
 * Kong does.
 */
export function refuseUnknown(query: Query, known: readonly string[]): void {
  const unknown = query.keys().filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw invalidOptions(Object.fromEntries(unknown.map((name) => [name, 'unknown parameter'])));
}
