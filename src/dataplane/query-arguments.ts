/** Decoded arguments of a query, in order; `true` stands for an argument without `=`. */
export function queryArguments(query: string): Readonly<Record<string, readonly (string | true)[]>> {
  const found: Record<string, (string | true)[]> = Object.create(null);
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = nameOf(pair);
    const value = equals < 0 ? true : decodeQueryText(pair.slice(equals + 1));
    const known = found[name];
    if (known === undefined) found[name] = [value];
    else known.push(value);
  }
  return found;
}

/** The query without the arguments of these names; the rest byte for byte. The same text when it has none of them. */
export function withoutArguments(query: string, names: ReadonlySet<string>): string {
  if (query === '') return query;
  const pairs = query.split('&');
  const kept = pairs.filter((pair) => pair === '' || !names.has(nameOf(pair)));
  return kept.length === pairs.length ? query : kept.join('&');
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  return decodeQueryText(equals < 0 ? pair : pair.slice(0, equals));
}

const triplet = /%([0-9a-f]{2})/gi;
const needsDecoding = /[%+\x80-\xff]/;

/** A name or value of a query. Never fails: an escape that is none stays as it is, bytes that are not UTF-8 become U+FFFD. */
export function decodeQueryText(text: string): string {
  if (!needsDecoding.test(text)) return text;
  const bytes = text
    .replaceAll('+', ' ')
    .replace(triplet, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
