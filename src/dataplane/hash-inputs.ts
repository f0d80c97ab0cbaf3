import { randomUUID } from 'node:crypto';
import type { HashSource } from '../balancer/balancer.ts';
import { headerValues } from '../http1/header-block.ts';
import { utf8AsLatin1 } from '../util/latin1.ts';
import type { Exchange } from './exchange.ts';
import { HeaderEdits } from './header-edits.ts';
import { queryArguments } from './query-arguments.ts';

/**
 * What a request is hashed on, with Kong's meaning of each kind; one character for each byte. Null: the request has
 * nothing of that kind. A cookie is made for a client that has none, and goes along with the answer.
 */
export function hashInput(x: Exchange, source: HashSource): string | null {
  const text = textOf(x, source);
  return text === null || text === '' ? null : text;
}

function textOf(x: Exchange, { kind, name, cookiePath }: HashSource): string | null {
  switch (kind) {
    case 'consumer':
      return x.consumer?.id ?? x.credential?.id ?? null;
    case 'ip':
      return x.clientIp;
    case 'header':
      return headerText(x, name);
    case 'cookie':
      return cookieValue(x, name) ?? newCookie(x, name, cookiePath);
    case 'path':
      return decodedPath(x.path);
    case 'query_arg':
      return argumentText(x.head.query, name);
    case 'uri_capture':
      return captureText(x, name);
  }
}

/** All values, one behind the other; what plugins have set stands above what the client sent. */
function headerText(x: Exchange, name: string): string {
  const identity = x.identity === '' ? [] : headerValues(x.identity, name);
  if (identity.length > 0) return identity.join('');
  const { block } = x.head;
  return (x.requestEdits === null ? headerValues(block, name) : x.requestEdits.values(block, name)).join('');
}

function cookieValue(x: Exchange, name: string): string | null {
  for (const line of headerValues(x.head.block, 'cookie')) {
    for (const pair of line.split(';')) {
      const equals = pair.indexOf('=');
      if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
      const value = pair.slice(equals + 1).trim();
      if (value !== '') return value;
    }
  }
  return null;
}

/** The same one for all attempts of a request. */
function newCookie(x: Exchange, name: string, path: string): string {
  const made = x.hashCookie;
  if (made !== null && made.name === name) return made.value;
  const value = randomUUID();
  x.hashCookie = { name, value };
  x.responseEdits ??= new HeaderEdits();
  // The attribute is spelled as in Kong, where browsers do not know it either.
  x.responseEdits.add('Set-Cookie', `${name}=${value}; Path=${path}; Same-Site=Lax; HttpOnly`);
  return value;
}

/** Without any escapes; those of reserved characters are left in the path that is routed. */
function decodedPath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Several values in their order, with commas between. */
function argumentText(query: string, name: string): string | null {
  if (query === '') return null;
  const values = queryArguments(query)[name];
  if (values === undefined) return null;
  return values
    .map((value) => (value === true ? 'true' : utf8AsLatin1(value)))
    .sort()
    .join(',');
}

function captureText({ captures }: Exchange, name: string): string | null {
  if (captures === null) return null;
  return (/^\d+$/.test(name) ? captures[Number(name)] : captures.groups?.[name]) ?? null;
}
