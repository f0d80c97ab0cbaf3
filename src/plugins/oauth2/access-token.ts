import { type AccessContext, bodyArguments, type Reply, refuse, withoutBodyArguments } from '../../plugin-sdk/index.ts';
import { maxBodyBytes } from './parameters.ts';
import { isLookedUp } from './rows.ts';
import type { OAuth2Config } from './schema.ts';

const argument = 'access_token';
const none: readonly string[] = [];
const argumentNames = new Set([argument]);
const credentials = /^(?:bearer|token) +(\S+) *$/i;
const form = /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i;

/**
 * The access token of a request for the API (RFC 6750 2): of the header, the query or a form, in this order. Null when
 * there is none, '' for what cannot be one, a refusal for a form that may have one and cannot be read to hide it.
 */
export type ReadToken = (context: AccessContext) => FoundToken | Promise<FoundToken>;
type FoundToken = string | null | Reply;

export function accessTokenReader(config: OAuth2Config): ReadToken {
  const headerName = config.auth_header_name.toLowerCase();
  const hide = tokenHider(config);
  return (context) => {
    const { request } = context;
    const headers = request.headerValues(headerName);
    const inQuery = request.query === '' ? none : (request.queryArguments()[argument] ?? none);
    hide(context);
    if (headers.length > 0) return only(headers.map((header) => credentials.exec(header)?.[1] ?? header));
    if (inQuery.length > 0) return only(inQuery);
    if (!isForm(context)) return null;
    // A form too large to be searched has no token. With `hide_credentials` it is refused, since it may contain one.
    return config.hide_credentials || !isLarge(context) ? inForm(context, config.hide_credentials) : null;
  };
}

/** Takes tokens out of header and query of what the backend gets, with `hide_credentials`. */
export function tokenHider(config: OAuth2Config): (context: AccessContext) => void {
  const headerName = config.auth_header_name.toLowerCase();
  return ({ request, upstream }) => {
    if (!config.hide_credentials) return;
    upstream.removeHeader(headerName);
    if (request.query !== '') upstream.removeQueryArguments(argumentNames);
  };
}

async function inForm(context: AccessContext, hide: boolean): Promise<FoundToken> {
  const type = context.request.header('content-type');
  const body = await (hide ? context.decodedBody() : context.body());
  if (hide) {
    const hidden = withoutBodyArguments(type, body, argumentNames);
    if (hidden === null) return refuse(400, 'The body cannot be read');
    if (hidden !== body) context.upstream.setBody(hidden);
  }
  return only(bodyArguments(type, body, argumentNames)?.get(argument) ?? none);
}

function isForm({ request }: AccessContext): boolean {
  const type = request.header('content-type');
  return type !== null && form.test(type);
}

/** A larger one of unknown length is refused. */
function isLarge({ request }: AccessContext): boolean {
  return Number(request.header('content-length') ?? 0) > maxBodyBytes;
}

/** Of several, the backend could take another one for the token than the gateway. */
function only(tokens: readonly string[]): string | null {
  const [token = '', ...more] = tokens;
  if (more.length > 0) return '';
  if (token === '') return null;
  return isLookedUp(token) ? token : '';
}
