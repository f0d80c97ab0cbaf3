import { isBlank } from './field-names.ts';

/**
 * The grammar of RFC 9112, as strict as two parsers reading the same bytes need it: CRLF only, no obs-fold, no space
 * before a colon, no control bytes. Each expression is one linear scan over a latin1 string.
 */

/**
 * Method, target, minor version (RFC 9112 3). A raw `#` is not valid in a target. Methods are those that nginx, and so Kong,
 * accepts: `get` would bypass a route or rule for `GET` if the backend ignores the case.
 */
export const requestLine = /([A-Z_-]+) ([\x21\x22\x24-\x7e]+) HTTP\/1\.([01])\r\n/y;

/** The rest of the usual line, from its target on. */
export const usualRequestLine = /[\x21\x22\x24-\x7e]+ HTTP\/1\.1\r\n/y;

/** A method alone (`:method` of HTTP/2). */
export const methodName = /^[A-Z_-]+$/;

/** The same with a target of raw UTF-8, which some clients send; its bytes are percent-encoded before anything reads them. */
export const rawRequestLine = /([A-Z_-]+) ([\x21\x22\x24-\x7e\x80-\xff]+) HTTP\/1\.([01])\r\n/y;

/** A request target alone (`:path` of HTTP/2), raw UTF-8 included. */
export const requestTarget = /^[\x21\x22\x24-\x7e\x80-\xff]+$/;

/** Minor version, status, reason (RFC 9112 4). */
export const statusLine = /HTTP\/1\.([01]) ([1-9][0-9]{2})(?: ([\t\x20-\x7e\x80-\xff]*))?\r\n/y;

/**
 * All field lines and the empty line that ends them (RFC 9112 5, RFC 9110 5.5). The blanks before a value are part of
 * the value's own class: a separate group for them would make a failing match quadratic.
 */
export const fieldLines = /(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n/y;

/** A Host value: registered name or IP literal, optional port, which may be empty (RFC 3986 3.2.3); no user part, path or list. */
export const hostValue = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]+|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?$/;

/** Most digits of a Content-Length. */
const maxLengthDigits = 19;

/**
 * The length in a Content-Length value as received after the colon: digits with optional blanks around them (RFC 9110 8.6,
 * RFC 9112 5). -1 when it is invalid.
 */
export function parseLength(text: string, from: number, to: number): number {
  let at = from;
  let end = to;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  while (end > at && isBlank(text.charCodeAt(end - 1))) end--;
  if (end === at || end - at > maxLengthDigits) return -1;
  let length = 0;
  for (; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    length = length * 10 + digit;
  }
  return length <= Number.MAX_SAFE_INTEGER ? length : -1;
}

/** The only accepted Transfer-Encoding, as received after the colon. */
export const chunkedValue = /^[ \t]*chunked[ \t]*$/i;

/** A token (RFC 9110 5.6.2). */
export const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Bytes that no head may hold wherever they stand: control bytes other than HTAB, CR and LF; and LF without CR, CR without LF. */
export const forbiddenInHead = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|(?:^|[^\r])\n|\r(?=[^\n])/;

/** Chunk extensions with the blanks that recipients must accept around `;` and `=` (BWS, RFC 9112 7.1.1). */
export const chunkExtensions =
  /^(?:[ \t]*;[ \t]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:[ \t]*=[ \t]*(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;
