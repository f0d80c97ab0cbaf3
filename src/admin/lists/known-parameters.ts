import type { Query } from '../http/query.ts';
import { invalidOptions } from './list-errors.ts';

/** What all lists take to walk through pages. */
export const pagingNames: readonly string[] = ['size', 'limit', 'offset', 'cursor', 'page', 'before'];

/**
 * For lists that are Sluicegate's own: a filter that is misspelt must not answer with everything. Lists that Kong has ignore what they do not
 * know, as Kong does.
 */
export function refuseUnknown(query: Query, known: readonly string[]): void {
  const unknown = query.keys().filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw invalidOptions(Object.fromEntries(unknown.map((name) => [name, 'unknown parameter'])));
}
