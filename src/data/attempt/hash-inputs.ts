import { randomUUID } from 'node:crypto';
import { headerValues } from '../../shared/http/header-block.ts';
import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';
import { HeaderEdits } from '../answer/header-edits.ts';
import type { HashSource } from '../balancer/balancer.ts';
import type { Exchange } from '../request/exchange.ts';
import { queryArguments } from '../request/query-arguments.ts';

/**
 * The hash input of a request, with Kong's meaning of each kind; one character for each byte. Null: the request has no such
 * value. A client without the cookie receives one with the answer.
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

/** All values, joined; those that plugins set override the client's. */
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

/** The same for all attempts of a request. */
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

/** Without escapes; the routed path keeps those of reserved characters. */
function decodedPath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Several values, sorted, separated by commas. */
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
