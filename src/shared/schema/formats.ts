import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseAddress } from './address.ts';
import { normalPath } from './normal-path.ts';
import { regexProblem } from './regex.ts';

/*
 * Formats of texts. Each function returns Kong's message of what is wrong, or null.
 */

export function hostProblem(text: string): string | null {
  const parsed = parseAddress(text);
  if (!parsed.ok) return parsed.problem === 'invalid port number' ? 'must not have a port' : `invalid value: ${text}`;
  return parsed.address.port === null ? null : 'must not have a port';
}

/** Host of a route: an optional port; one `*` instead of the leftmost or rightmost label. */
export function routeHostProblem(text: string): string | null {
  const star = text.indexOf('*');
  if (star !== text.lastIndexOf('*')) return 'invalid wildcard: must have at most one wildcard';
  if (star >= 0 && !/^\*\.|\.\*$|\.\*:[0-9]+$/.test(text)) {
    return 'invalid wildcard: must be placed at leftmost or rightmost label';
  }
  const parsed = parseAddress(text.replace('*', 'wildcard'));
  if (parsed.ok) return null;
  return parsed.problem.startsWith('invalid hostname') ? `invalid hostname: ${text}` : parsed.problem;
}

/** A hostname with an optional port, as in the `host_header` of an upstream. */
export function hostWithPortProblem(text: string): string | null {
  const parsed = parseAddress(text);
  return parsed.ok ? null : parsed.problem;
}

export function sniProblem(text: string): string | null {
  const parsed = parseAddress(text);
  if (!parsed.ok) return parsed.problem === 'invalid port number' ? 'must not have a port' : `invalid value: ${text}`;
  if (parsed.address.kind !== 'name') return 'must not be an IP';
  return parsed.address.port === null ? null : 'must not have a port';
}

/** A server name with at most one wildcard, first or last. */
export function wildcardHostProblem(text: string): string | null {
  const first = text.indexOf('*');
  if (first < 0) return sniProblem(text);
  if (first !== 0 && first !== text.length - 1) return 'wildcard must be leftmost or rightmost character';
  if (text.lastIndexOf('*') !== first) return 'only one wildcard must be specified';
  const problem = sniProblem(text.replace('*', 'wildcard'));
  return problem?.startsWith('invalid value') ? `invalid value: ${text}` : problem;
}

/** Path of a service or of a probe; the caller has checked that it starts with `/` and has no empty segments. */
export function pathProblem(text: string): string | null {
  if (!/^\/[\w.\-~/%:@!$&'()*+,;=]*$/.test(text)) {
    return `invalid path: '${text}' (characters outside of the reserved list of RFC 3986 found)`;
  }
  const broken = /%(?![0-9a-f]{2}).{0,2}/i.exec(text);
  return broken === null ? null : `invalid url-encoded value: '${broken[0]}'`;
}

/** Path of a route: a fixed one in normal form, or `~` and a regular expression. */
export function routePathProblem(text: string): string | null {
  if (text.includes('//')) return 'must not have empty segments';
  if (!text.startsWith('/') && !text.startsWith('~/')) {
    return 'should start with: / (fixed path) or ~/ (regex path)';
  }
  if (text.startsWith('~')) {
    const expression = text.slice(1);
    const problem = regexProblem(expression);
    return problem === null ? null : `invalid regex: '${expression}' (PCRE returned: ${problem})`;
  }
  const normal = normalPath(text);
  return normal === text ? null : `non-normalized path, consider use '${normal}' instead`;
}

export function urlProblem(text: string): string | null {
  const { scheme, host } = splitUrl(text);
  if (host === null) return 'missing host in url';
  return scheme === null ? 'missing scheme in url' : null;
}

export interface UrlParts {
  readonly scheme: string | null;
  /** IPv6 without brackets. */
  readonly host: string | null;
  readonly port: string | null;
  readonly path: string | null;
}

/** Splits a URL without validation: missing parts are null. Query, fragment and user are dropped. */
export function splitUrl(text: string): UrlParts {
  let rest = text.replace(/#.*$/s, '');
  const scheme = /^([A-Za-z0-9][A-Za-z0-9+.-]*):/.exec(rest);
  if (scheme !== null) rest = rest.slice(scheme[0].length);
  const authority = /^\/\/([^/?]*)/.exec(rest);
  if (authority !== null) rest = rest.slice(authority[0].length);
  const path = rest.replace(/\?.*$/s, '');
  const place = (authority?.[1] ?? '').replace(/^.*@/s, '');
  const port = /:([^:\]]*)$/.exec(place);
  const host = (port === null ? place : place.slice(0, port.index)).replace(/^\[(.*)\]$/s, '$1');
  return {
    scheme: scheme?.[1]?.toLowerCase() ?? null,
    host: host === '' ? null : host,
    port: port?.[1] === undefined || port[1] === '' ? null : port[1],
    path: path === '' ? null : path,
  };
}

export function nameProblem(text: string): string | null {
  // Beyond ASCII everything is allowed.
  if (/^(?:[A-Za-z0-9.\-_~]|[^\x00-\x7f])+$/u.test(text) && text.isWellFormed()) return null;
  return `invalid value '${text}': the only accepted ascii characters are alphanumerics or ., -, _, and ~`;
}

export function headerNameProblem(text: string): string | null {
  if (/^[A-Za-z0-9_-]+$/.test(text)) return null;
  return `bad header name '${text}', allowed characters are A-Z, a-z, 0-9, '_', and '-'`;
}

export function cookieNameProblem(text: string): string | null {
  if (/^[A-Za-z0-9_-]+$/.test(text)) return null;
  return `bad cookie name '${text}', allowed characters are A-Z, a-z, 0-9, '_', and '-'`;
}

export function tagProblem(text: string): string | null {
  if (/^(?:[ -+\-.0-~]|[^\x00-\x7f])+$/u.test(text) && text.isWellFormed()) return null;
  return `invalid tag '${text}': expected printable ascii (except \`,\` and \`/\`) or valid utf-8 sequences`;
}

export function ipOrCidrProblem(text: string): string | null {
  const [address = '', bits, ...more] = text.split('/');
  const message = `invalid ip or cidr range: '${text}'`;
  if (more.length > 0) return message;
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isV4 && (!isIPv6(address) || address.includes('%'))) return message;
  if (bits === undefined) return null;
  return /^(?:0|[1-9][0-9]{0,2})$/.test(bits) && Number(bits) <= (isV4 ? 32 : 128) ? null : message;
}

export function certificateProblem(text: string): string | null {
  try {
    new X509Certificate(text);
    return null;
  } catch (error) {
    return `invalid certificate: ${pemProblem(text, 'CERTIFICATE', error)}`;
  }
}

export function privateKeyProblem(text: string): string | null {
  try {
    createPrivateKey(text);
    return null;
  } catch (error) {
    return `invalid key: ${pemProblem(text, 'PRIVATE KEY', error)}`;
  }
}

/** Readable messages instead of OpenSSL's codes. */
function pemProblem(text: string, kind: string, error: unknown): string {
  const begin = text.indexOf('-----BEGIN ');
  if (begin < 0) return `no -----BEGIN ${kind}----- line`;
  if (!text.includes('-----END ')) return 'no -----END ...----- line';
  const message = error instanceof Error ? error.message : '';
  if (/bad base64|BASE64_DECODE|bad decode/i.test(message)) return 'the base64 text between the lines is invalid';
  if (/no start line|unsupported/i.test(message)) return `it contains no ${kind.toLowerCase()}`;
  if (/password|passphrase|interrupted|encrypted/i.test(message)) return 'it is encrypted with a passphrase';
  return message.replace(/^error:[0-9A-F]+:/, '') || 'it cannot be parsed';
}
