/** Decoded arguments of a query, in order; `true` stands for an argument without `=`. */
export function queryArguments(query: string): Readonly<Record<string, readonly (string | true)[]>> {
  const found: Record<string, (string | true)[]> = Object.create(null);
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeQueryText(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? true : decodeQueryText(pair.slice(equals + 1));
    const known = found[name];
    if (known === undefined) found[name] = [value];
    else known.push(value);
  }
  return found;
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
