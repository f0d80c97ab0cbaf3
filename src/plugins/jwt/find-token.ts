import { cookieValues } from '../../plugin-kit/http/index.ts';
import type { AccessContext, RequestView } from '../../plugin-sdk/index.ts';
import type { JwtConfig } from './schema.ts';

/** A token, or why there is none. */
export type FoundToken = string | typeof missing | typeof several | typeof unrecognizable;

export const missing = Symbol('missing');
export const several = Symbol('several');
export const unrecognizable = Symbol('unrecognizable');

/** Looks for tokens in query, cookies and headers. The same token in several places counts once. */
export function tokenFinder(config: JwtConfig): (context: AccessContext) => FoundToken {
  const parameters = config.uri_param_names ?? [];
  const cookies = config.cookie_names ?? [];
  const headers = (config.header_names ?? []).map((name) => name.toLowerCase());
  return ({ request }) => {
    let found: FoundToken = missing;
    const take = (token: string): void => {
      if (found === several || found === token) return;
      if (typeof found === 'string') found = several;
      else found = token === '' ? unrecognizable : token;
    };
    if (request.query !== '') for (const name of parameters) for (const value of argument(request, name)) take(value);
    if (cookies.length > 0) for (const name of cookies) for (const value of cookieValues(request, name)) take(value);
    for (const name of headers) {
      for (const value of request.headerValues(name)) {
        const token = bearer(value);
        if (token !== null) take(token);
      }
    }
    return found;
  };
}

function argument(request: RequestView, name: string): readonly string[] {
  return request.queryArguments()[name] ?? [];
}

/** The two spellings that Kong accepts. */
const scheme = /^[Bb]earer +/;

function bearer(value: string): string | null {
  if ((value.charCodeAt(0) | 32) !== 98) return null;
  const match = scheme.exec(value);
  return match === null ? null : value.slice(match[0].length).trimEnd();
}
