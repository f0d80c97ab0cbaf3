import { bodyArguments, withoutBodyArguments } from '../../plugin-kit/http/index.ts';
import { type AccessContext, type Reply, refuse } from '../../plugin-sdk/index.ts';
import { maxBodyBytes } from './parameters.ts';
import { canBeStored } from './rows.ts';
import type { OAuth2Config } from './schema.ts';

const argument = 'access_token';
const noTokens: readonly string[] = [];
const argumentNames = new Set([argument]);
const credentials = /^(?:bearer|token) +(\S+) *$/i;
const form = /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i;

/**
 * The access token of a request for the API (RFC 6750 2): from the header, the query or a form, in this order. Null: no
 * token; '': an invalid one. A reply refuses a form that has to be searched for a token to hide, but cannot be read.
 */
export type ReadToken = (context: AccessContext) => FoundToken | Promise<FoundToken>;
type FoundToken = string | null | Reply;

export function accessTokenReader(config: OAuth2Config): ReadToken {
  const headerName = config.auth_header_name.toLowerCase();
  const hide = tokenHider(config);
  return (context) => {
    const { request } = context;
    const headers = request.headerValues(headerName);
    const inQuery = request.query === '' ? noTokens : (request.queryArguments()[argument] ?? noTokens);
    hide(context);
    if (headers.length > 0) return singleToken(headers.map((header) => credentials.exec(header)?.[1] ?? header));
    if (inQuery.length > 0) return singleToken(inQuery);
    if (!isForm(context)) return null;
    // A form too large to be searched has no token. With `hide_credentials` it is refused, since it may contain one.
    return config.hide_credentials || !isLarge(context) ? inForm(context, config.hide_credentials) : null;
  };
}

/** With `hide_credentials`, removes tokens from header and query of the request to the backend. */
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
  return singleToken(bodyArguments(type, body, argumentNames)?.get(argument) ?? noTokens);
}

function isForm({ request }: AccessContext): boolean {
  const type = request.header('content-type');
  return type !== null && form.test(type);
}

/** A body without a length is refused when it exceeds the limit. */
function isLarge({ request }: AccessContext): boolean {
  return Number(request.header('content-length') ?? 0) > maxBodyBytes;
}

/** '' for several tokens: the backend could use another one than the gateway. */
function singleToken(tokens: readonly string[]): string | null {
  const [token = '', ...more] = tokens;
  if (more.length > 0) return '';
  if (token === '') return null;
  return canBeStored(token) ? token : '';
}
