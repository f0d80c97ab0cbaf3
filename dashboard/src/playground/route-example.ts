import type { Row } from '../api/queries.ts';

export interface RouteExample {
  readonly url: string;
  /** False: the path is the fixed beginning of an expression for which no example was found. */
  readonly exact: boolean;
}

/** A URL that the route matches: its first host and path, with examples for what they leave open. */
export function exampleUrl(route: Row): RouteExample {
  const protocols = textsOf(route['protocols']);
  const secure = protocols.length > 0 && protocols.every((protocol) => protocol === 'https' || protocol === 'grpcs');
  const [sni = ''] = textsOf(route['snis']);
  const [pattern = sni] = textsOf(route['hosts']);
  const host = pattern.replace(/^\*\./, 'www.').replace(/\.\*$/, '.com');
  const [path = '/'] = textsOf(route['paths']);
  const { text, exact } = path.startsWith('~') ? exampleOf(path.slice(1)) : { text: path, exact: true };
  const needsHost = host !== '' || secure;
  return { url: `${needsHost ? `${secure ? 'https' : 'http'}://${host || 'localhost'}` : ''}${text}`, exact };
}

/** Frequent parts of expressions, and what they match. */
const parts: readonly (readonly [RegExp, string])[] = [
  [/\(\?<\w+>/g, '('],
  [/\(\?:/g, '('],
  [/\[\^\/\][*+]?/g, 'x'],
  [/\\d(?:[+*]|\{(\d+)(?:,\d*)?\})?/g, '1'],
  [/\\w[+*]?/g, 'a'],
  [/\[0-9\][+*]?/g, '1'],
  [/\[a-z[^\]]*\][+*]?/gi, 'a'],
  [/\.[+*]/g, 'x'],
  [/\\([./-])/g, '$1'],
  [/\(([^()|]*)(?:\|[^()]*)?\)\??/g, '$1'],
  [/[$^]/g, ''],
];

function exampleOf(expression: string): { readonly text: string; readonly exact: boolean } {
  const text = parts.reduce((before, [part, example]) => before.replace(part, example), expression);
  try {
    if (/^\/[\x21-\x7e]*$/.test(text) && new RegExp(`^(?:${expression})`).test(text)) return { text, exact: true };
  } catch {
    // The gateway's expressions have parts that those of browsers lack.
  }
  return { text: /^[\w/.-]*/.exec(expression)?.[0] || '/', exact: false };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
