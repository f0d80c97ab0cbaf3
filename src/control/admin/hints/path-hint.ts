import { suggest } from '../../../shared/util/suggest.ts';

/** The collection that an unknown path may mean: `/service` is `/services`. Null when none is close. */
export function pathHint(path: string, known: readonly string[]): string | null {
  const [first = '', ...rest] = path
    .replace(/[?#].*$/s, '')
    .split('/')
    .filter((segment) => segment !== '');
  if (first === '' || first.length > 64 || known.includes(first)) return null;
  const guess = suggest(first.toLowerCase(), known);
  return guess === null ? null : `did you mean /${[guess, ...rest].join('/').slice(0, 200)}?`;
}
