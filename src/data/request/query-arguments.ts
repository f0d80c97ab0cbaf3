import { decodeFormText } from '../../shared/util/bytes/percent-decoding.ts';

/** Decoded arguments of a query, in order; `true`: an argument without `=`. */
export function queryArguments(query: string): Readonly<Record<string, readonly (string | true)[]>> {
  const found: Record<string, (string | true)[]> = Object.create(null);
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = nameOf(pair);
    const value = equals < 0 ? true : decodeFormText(pair.slice(equals + 1));
    const known = found[name];
    if (known === undefined) found[name] = [value];
    else known.push(value);
  }
  return found;
}

/** The query without the arguments of these names; the rest is unchanged. */
export function withoutArguments(query: string, names: ReadonlySet<string>): string {
  if (query === '') return query;
  const pairs = query.split('&');
  const kept = pairs.filter((pair) => pair === '' || !names.has(nameOf(pair)));
  return kept.length === pairs.length ? query : kept.join('&');
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  return decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
}
