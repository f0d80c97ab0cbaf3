import { type ErrorEntry, errors } from '../../shared/errors.ts';
import type { ParsedRequest } from './parsed-request.ts';

/** Splits the request target into path and query; it is ASCII, has passed the grammar, and method and host are known. */
export function readTarget(head: ParsedRequest, target: string): ErrorEntry | null {
  if (head.method === 'CONNECT' || head.method === 'TRACE') return errors.methodNotAllowed;
  let origin = target;
  if (target.charCodeAt(0) !== 47) {
    const path = originForm(head, target);
    if (path === null) return errors.badRequest;
    origin = path;
  }
  head.target = origin;
  const mark = origin.indexOf('?');
  if (mark < 0) head.rawPath = origin;
  else {
    head.hasQuery = true;
    head.rawPath = origin.slice(0, mark);
    head.query = origin.slice(mark + 1);
  }
  return null;
}

/** Asterisk-form and absolute-form (RFC 9112 3.2) as a path; null when the target is neither, or names another host. */
function originForm(head: ParsedRequest, target: string): string | null {
  if (target === '*') return head.method === 'OPTIONS' ? '/*' : null;
  if (head.httpVersion === '2') return null;
  const absolute = /^https?:\/\/([^/?]*)(.*)$/i.exec(target);
  if (absolute === null) return null;
  const authority = withoutEmptyPort(absolute[1] as string);
  if (authority.toLowerCase() !== head.host.toLowerCase()) return null;
  const rest = absolute[2] as string;
  return rest.charCodeAt(0) === 47 ? rest : `/${rest}`;
}

/** `a:` is equivalent to `a` (RFC 3986 6.2.3). */
export function withoutEmptyPort(authority: string): string {
  return authority.charCodeAt(authority.length - 1) === 58 ? authority.slice(0, -1) : authority;
}

/** Bytes above 0x7f percent-encoded (RFC 3986 2.1), so that matching, plugins, logs and the backend read the same target. */
export function encodeRawBytes(target: string): string {
  return target.replace(/[\x80-\xff]/g, percentEncoded);
}

function percentEncoded(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
}
