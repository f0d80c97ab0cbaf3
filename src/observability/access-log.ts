/** What one line of an access log tells. Texts are given as they came from outside; the formatter makes them harmless. */
export interface AccessFields {
  /** Client address, after `trusted_ips` had its say. */
  readonly remoteAddr: string;
  /** User of basic authentication, or null. */
  readonly remoteUser: string | null;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Request line as it came: `GET /a?b=c HTTP/1.1`. */
  readonly request: string;
  readonly status: number;
  readonly bodyBytesSent: number;
  readonly referer: string | null;
  readonly userAgent: string | null;
  /** Null leaves the field out. */
  readonly requestId: string | null;
}

/** One line, without its line feed, in Kong's format. Nothing in the fields can end the line or a quoted field early. */
export function formatAccessLine(fields: AccessFields): string {
  const requestId = fields.requestId === null ? '' : ` kong_request_id: "${quote(fields.requestId)}"`;
  return (
    `${quote(fields.remoteAddr)} - ${quoteUser(fields.remoteUser)} [${localTime(fields.time)}] "${quote(fields.request)}" ` +
    `${fields.status} ${fields.bodyBytesSent} "${quote(fields.referer)}" "${quote(fields.userAgent)}"${requestId}`
  );
}

const harmful = /[^\x20\x21\x23-\x5b\x5d-\x7e]/;
const allHarmful = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/** As nginx: quotes, backslashes and everything outside of printable ASCII become `\xXX`; absent or empty is `-`. */
function quote(text: string | null): string {
  if (text === null || text === '') return '-';
  return harmful.test(text) ? text.replace(allHarmful, escapeCharacter) : text;
}

/** The user stands outside of quotes, so that a space in it would shift the fields behind it. */
function quoteUser(text: string | null): string {
  return text === null ? '-' : quote(text).replaceAll(' ', '\\x20');
}

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  return code <= 0xff ? hex(code) : [...Buffer.from(character)].map(hex).join('');
}

function hex(byte: number): string {
  return `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
let cachedSecond = -1;
let cachedTime = '';

/** `21/Nov/2025:03:04:05 +0100`, made once for each second. */
export function localTime(time: number): string {
  const second = Math.floor(time / 1000);
  if (second !== cachedSecond) {
    cachedTime = formatTime(new Date(time));
    cachedSecond = second;
  }
  return cachedTime;
}

function formatTime(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`;
  const day = `${two(date.getDate())}/${months[date.getMonth()]}/${date.getFullYear()}`;
  return `${day}:${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())} ${zone}`;
}
