import type { LogMask } from '../../plugin-sdk/phases.ts';
import { decodeFormText } from '../util/bytes/percent-decoding.ts';

/** Replaces the value of a credential in logs. */
export const redacted = 'REDACTED';

/** Arguments that commonly carry credentials. Masked even where no plugin reads them, and where no route matched. */
const wellKnown: ReadonlySet<string> = new Set([
  'access_token',
  'api-key',
  'api_key',
  'apikey',
  'auth_token',
  'client_assertion',
  'client_secret',
  'id_token',
  'jwt',
  'passwd',
  'password',
  'refresh_token',
  'secret',
  'token',
  'x-api-key',
]);

/** Header fields of requests that commonly carry credentials. */
const wellKnownHeaders: ReadonlySet<string> = new Set([
  'api-key',
  'apikey',
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-access-token',
  'x-api-key',
  'x-auth-token',
]);

/** Whether a header field, by its name in lower case, carries a credential. */
export function isSecretHeader(name: string, own: ReadonlySet<string>): boolean {
  return wellKnownHeaders.has(name) || own.has(name);
}

/** Whether a query argument of this name, decoded, carries a credential. `own`: names in lower case that plugins declare. */
export function isSecretArgument(name: string, own: ReadonlySet<string>): boolean {
  const lower = name.toLowerCase();
  return wellKnown.has(lower) || own.has(lower);
}

/**
 * A URL or request target for logs: values of arguments that carry credentials are replaced, and the masks of plugins
 * are applied.
 */
export function maskedTarget(target: string, own: ReadonlySet<string>, masks: readonly LogMask[] = []): string {
  const mark = target.indexOf('?');
  if (mark < 0) return target;
  const query = target.slice(mark + 1);
  const masked = maskedByAll(query, own, masks);
  return masked === query ? target : target.slice(0, mark + 1) + masked;
}

function maskedByAll(text: string, own: ReadonlySet<string>, masks: readonly LogMask[]): string {
  let query = maskedQuery(text, own);
  for (const one of masks) query = one.query === undefined ? query : safely(() => one.query?.(query));
  return query;
}

/** The value of a header field, name in lower case, for logs. */
export function maskedField(name: string, value: string, masks: readonly LogMask[]): string {
  let shown = value;
  for (const one of masks) shown = one.header === undefined ? shown : safely(() => one.header?.(name, shown));
  return shown;
}

/** The secrets of a plan, and the masks of its plugins. */
interface Masking {
  readonly secretArguments: ReadonlySet<string>;
  readonly secretHeaders: ReadonlySet<string>;
  readonly logMasks: readonly LogMask[];
}

/**
 * Fields that contain a URL. Those of responses pass tokens of OpenID Connect and OAuth to the client's next request.
 */
const urlHeaders: ReadonlySet<string> = new Set(['referer', 'location', 'content-location']);

/** The value of a header field of a request or a response, name in lower case, for logs. */
export function shownField(name: string, value: string, plan: Masking): string {
  const { secretArguments, secretHeaders, logMasks } = plan;
  if (isSecretHeader(name, secretHeaders)) return redacted;
  if (name === 'set-cookie') return maskedCookie(value);
  const shown = urlHeaders.has(name) ? maskedReference(value, secretArguments, logMasks) : value;
  return logMasks.length === 0 ? shown : maskedField(name, shown, logMasks);
}

/**
 * Masks the session that a client will send; the name of the cookie is no secret. A cookie without `=` is all value.
 */
function maskedCookie(value: string): string {
  const equals = value.indexOf('=');
  const end = value.indexOf(';');
  return equals < 0 || (end >= 0 && end < equals) ? redacted : value.slice(0, equals + 1) + redacted;
}

/** User and password of a URL. */
const userInfo = /^((?:[a-z][a-z0-9+.-]{0,31}:)?\/\/)[^/?#]*@/i;

/** A URL whose fragment may have arguments itself: `/done#access_token=...`, `/#/done?token=...`. */
function maskedReference(url: string, own: ReadonlySet<string>, masks: readonly LogMask[]): string {
  const bare = url.includes('@') ? url.replace(userInfo, `$1${redacted}@`) : url;
  const hash = bare.indexOf('#');
  if (hash < 0) return maskedTarget(bare, own, masks);
  const fragment = bare.slice(hash + 1);
  const shown = fragment.includes('?') ? maskedTarget(fragment, own, masks) : maskedByAll(fragment, own, masks);
  return `${maskedTarget(bare.slice(0, hash), own, masks)}#${shown}`;
}

/** What cannot be masked is not shown. */
function safely(mask: () => string | undefined): string {
  try {
    return mask() ?? redacted;
  } catch {
    return redacted;
  }
}

const lineUserInfo = /^(\S{0,64}\s+[a-z][a-z0-9+.-]{0,31}:\/\/)[^/?#\s]*@/i;

/** The same for the first line of a request that may be malformed. */
export function maskedRequestLine(line: string, own: ReadonlySet<string>, masks: readonly LogMask[] = []): string {
  const bare = line.includes('@') ? line.replace(lineUserInfo, `$1${redacted}@`) : line;
  const mark = bare.indexOf('?');
  if (mark < 0) return bare;
  const version = bare.lastIndexOf(' HTTP/');
  const end = version > mark ? version : bare.length;
  return bare.slice(0, mark + 1) + maskedByAll(bare.slice(mark + 1, end), own, masks) + bare.slice(end);
}

/** For the set of a plan: 1 at the length of each name that is secret. Longer names are not in the array. */
const lengthsBySet = new WeakMap<ReadonlySet<string>, Uint8Array>();
const maxNameLength = 256;

/** Few arguments have a name as long as a secret one, so the length is checked first. */
function lengthsOf(own: ReadonlySet<string>): Uint8Array {
  const known = lengthsBySet.get(own);
  if (known !== undefined) return known;
  const lengths = new Uint8Array(maxNameLength);
  for (const name of [...wellKnown, ...own]) lengths[name.length] = 1;
  lengthsBySet.set(own, lengths);
  return lengths;
}

/** Its length may change when it is decoded, or in lower case. */
function changesLength(argument: string, end: number): boolean {
  for (let at = 0; at < end; at++) {
    const code = argument.charCodeAt(at);
    if (code === 37 || code === 43 || code > 127) return true;
  }
  return false;
}

/** Names are compared decoded, as plugins read them. */
function maskedQuery(query: string, own: ReadonlySet<string>): string {
  const lengths = lengthsOf(own);
  let masked = '';
  let keptFrom = 0;
  for (let at = 0; at < query.length; ) {
    const separator = query.indexOf('&', at);
    const end = separator < 0 ? query.length : separator;
    const argument = query.slice(at, end);
    const equals = argument.indexOf('=');
    if (
      equals > 0 &&
      (lengths[equals] !== 0 || changesLength(argument, equals)) &&
      isSecretArgument(decodeFormText(argument.slice(0, equals)), own)
    ) {
      masked += query.slice(keptFrom, at + equals + 1) + redacted;
      keptFrom = end;
    }
    at = end + 1;
  }
  return keptFrom === 0 ? query : masked + query.slice(keptFrom);
}
