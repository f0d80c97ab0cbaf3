import { type AccessContext, bodyArguments, withoutBodyArguments } from '../../plugin-sdk/index.ts';
import { maxBodyBytes } from './parameters.ts';
import { isLookedUp } from './rows.ts';
import type { OAuth2Config } from './schema.ts';

const argument = 'access_token';
const argumentNames = new Set([argument]);
const credentials = /^(?:bearer|token) +(\S+) *$/i;
const form = /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i;

/**
 * The access token of a request for the API (RFC 6750 2): of the header, the query or a form, in this order. Null when
 * there is none, '' for what cannot be one.
 */
export type ReadToken = (context: AccessContext) => string | null | Promise<string | null>;

export function accessTokenReader(config: OAuth2Config): ReadToken {
  const headerName = config.auth_header_name.toLowerCase();
  const hide = config.hide_credentials;
  return (context) => {
    const { request } = context;
    const header = request.header(headerName);
    const inQuery = request.query === '' ? null : request.queryArgument(argument);
    if (hide && header !== null) context.upstream.removeHeader(headerName);
    if (hide && inQuery !== null) context.upstream.removeQueryArguments(argumentNames);
    if (header !== null) return usable(credentials.exec(header)?.[1] ?? header);
    if (inQuery !== null) return usable(inQuery);
    return isReadableForm(context) ? inForm(context, hide) : null;
  };
}

async function inForm(context: AccessContext, hide: boolean): Promise<string | null> {
  const type = context.request.header('content-type');
  const body = await context.body();
  const values = bodyArguments(type, body)?.get(argument) ?? [];
  if (hide && values.length > 0) context.upstream.setBody(withoutBodyArguments(type, body, argumentNames));
  return usable(values[0] ?? null);
}

/** A form that is too large to be looked into has no token; a larger one of unknown length is refused. */
function isReadableForm({ request }: AccessContext): boolean {
  const type = request.header('content-type');
  return type !== null && form.test(type) && Number(request.header('content-length') ?? 0) <= maxBodyBytes;
}

function usable(token: string | null): string | null {
  if (token === null || token === '') return null;
  return isLookedUp(token) ? token : '';
}
