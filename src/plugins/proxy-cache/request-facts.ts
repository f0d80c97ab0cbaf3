import { hash } from 'node:crypto';
import type { AccessContext, BaseContext } from '../../plugin-sdk/index.ts';
import { type CacheControl, noDirectives, parseCacheControl } from './cache-control.ts';
import { lineOf } from './header-lines.ts';
import { type Address, type AddressKeys, type Place, separator } from './keys.ts';
import type { CachePolicy } from './policy.ts';
import { conditionLines } from './request-headers.ts';
import type { Wishes } from './served.ts';

/** What the cache has to know of a request. */
export interface RequestFacts {
  readonly place: Place;
  readonly control: CacheControl;
  /** Asked for beside the whole: a part, or an answer on a condition. */
  readonly wishes: Wishes | null;
  /** It asks for a part. */
  readonly ranged: boolean;
  readonly authorized: boolean;
  /** `GET` or `HEAD`. */
  readonly retrieves: boolean;
}

/** Lines that hardly any request has, looked for in one go; which of them there are is found out only then. */
const unusual = /^(?:cache-control|if-[a-z-]+|range|authorization):/im;
const conditions = /^(?:if-(?:none-match|modified-since|range)|range):/im;
/** Conditions that only the backend can judge (RFC 9111 4.3.2). */
const forBackend = /^(?:if-match|if-unmodified-since):/im;
const hasAuthorization = /^authorization:/im;

/** Facts of a request that may be answered from the cache; null: it is none of the cache's business. */
export function requestFacts(
  context: AccessContext,
  keys: AddressKeys,
  policy: CachePolicy,
  body: Uint8Array | null,
): RequestFacts | null {
  const { request } = context;
  const { method } = request;
  const retrieves = method === 'GET' || method === 'HEAD';
  const block = request.block();
  const special = unusual.test(block);
  // A body of a GET means nothing; but what a backend makes of it must not be given to others (RFC 9110 9.3.1).
  if (retrieves && request.bodyLength !== 0) return null;
  if (request.upgrade !== '' || (special && forBackend.test(block))) return null;
  const control =
    special && policy.heeds ? parseCacheControl(request.headerValues('cache-control').join(', ')) : noDirectives;
  if (control.noStore || control.noCache) return null;
  const authorized = special && hasAuthorization.test(block);
  const who = identityOf(context, authorized);
  if (who === null) return null;
  const wished = special && conditions.test(block) ? conditionLines(context) : '';
  return {
    place: placeOf(context, keys, policy, who, body),
    control,
    wishes: wished === '' ? null : { block: wished, method },
    ranged: wished !== '' && lineOf(wished, 'range') !== null,
    authorized,
    retrieves,
  };
}

const bodyFields = ['content-type', 'content-encoding', 'content-language'];

/** The address of a request, as the key tells it. */
export function addressOf({ request }: BaseContext): Address {
  const host = request.header('host');
  return {
    scheme: request.scheme,
    host: host === null ? request.host : host.toLowerCase(),
    port: request.port,
    path: request.path,
    query: request.query,
  };
}

function placeOf(
  context: AccessContext,
  keys: AddressKeys,
  policy: CachePolicy,
  who: string,
  body: Uint8Array | null,
): Place {
  const { request, route, service } = context;
  const address = addressOf(context);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  let owner = `${method} ${route?.id ?? ''} ${service?.id ?? ''}`;
  // The backend is told of the path as it was sent, too.
  if (request.rawPath !== request.path) owner += `${separator}raw ${request.rawPath}`;
  const { changes } = context.upstream;
  if (changes !== '') owner += `${separator}sent ${hash('sha256', changes, 'base64url')}`;
  if (body !== null && body.byteLength > 0) {
    owner += `${separator}body ${hash('sha256', body, 'base64url')}`;
    // The same bytes may mean different things.
    for (const name of bodyFields) owner += `${separator}${context.upstream.headerValues(name).join()}`;
  }
  for (const name of policy.headers) {
    owner += `${separator}${name}`;
    // As the client sent it, and as the backend gets it.
    for (const value of request.headerValues(name)) owner += `:${value}`;
    for (const value of context.upstream.headerValues(name)) owner += `>${value}`;
  }
  return { key: keys.key(address), owner, who, address };
}

/**
 * Whom the backend is told that the request is from: the consumer, or the credential of those that none stands for, with the
 * subject of their claims. With an `Authorization` that, too: a consumer may be an application, and the user of it be known to the
 * backend only. Null: it is somebody, and nothing says who.
 */
function identityOf({ client, request }: BaseContext, authorized: boolean): string | null {
  const { consumer, credential, details } = client;
  if (consumer === null && credential === null && details === null) return '';
  const subject = details?.claims?.['sub'];
  let about = typeof subject === 'string' ? `${separator}${JSON.stringify(subject)}` : '';
  if (authorized) about += `${separator}${request.headerValues('authorization').join(separator)}`;
  if (consumer !== null) return `consumer ${consumer.id}${about}`;
  const name = credential?.id ?? credential?.identifier ?? null;
  if (name === null) return about === '' ? null : `somebody${about}`;
  return `credential ${name}${about}`;
}
