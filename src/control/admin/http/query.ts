import { tooManyArguments } from './http-error.ts';

/** The query string of a request, decoded. A key may occur several times. */
export interface Query {
  /** The first value of that key, or undefined. */
  first(key: string): string | undefined;
  /** Every value of that key, in order. */
  all(key: string): readonly string[];
  /** Every key, in order; one that occurs several times is listed as often. */
  keys(): readonly string[];
}

export const maxArguments = 1000;

const empty: Query = { first: () => undefined, all: () => [], keys: () => [] };

/** Throws Kong's `Too many arguments` above 1000 of them. */
export function parseQuery(url: string): Query {
  const mark = url.indexOf('?');
  if (mark === -1 || mark === url.length - 1) return empty;
  const parameters = new URLSearchParams(url.slice(mark + 1));
  if (parameters.size > maxArguments) throw tooManyArguments();
  return {
    first: (key) => parameters.get(key) ?? undefined,
    all: (key) => parameters.getAll(key),
    keys: () => [...parameters.keys()],
  };
}
