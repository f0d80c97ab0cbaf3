import { createHash } from 'node:crypto';

/** The arguments of a query other than those of these names, byte for byte. */
export function otherArguments(query: string, names: ReadonlySet<string>): readonly string[] {
  return query.split('&').filter((pair) => pair !== '' && !names.has(nameOf(pair)));
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  const text = (equals < 0 ? pair : pair.slice(0, equals)).replaceAll('+', ' ');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Identifies a list: its path, and the arguments that filter and sort its items, in any order. */
export function listName(path: string, filters: readonly string[], routeId: string): string {
  const text = JSON.stringify([routeId, path, [...filters].sort()]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

export function withArguments(others: readonly string[], own: readonly (readonly [string, string | number])[]): string {
  const pairs = own.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return [...others, ...pairs].join('&');
}
