import { trimBlanks } from './message.ts';

export type MessageKind = 'request' | 'response';

interface StricterRule {
  /** Why the gateway refuses a message that Node's parser accepts. */
  readonly reason: string;
  readonly kind: MessageKind | 'both';
  /** `head` ends with its empty line; `lines` are its field lines without line ends. */
  readonly applies: (head: string, lines: readonly string[], message: string) => boolean;
}

const goodRequestLine = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ [^ ]+ HTTP\/1\.[01]\r\n/;
const goodStatusLine = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t -~\x80-\xff]*)?\r\n/;
const goodHost = /^[A-Za-z0-9._~!$&'()*+;=%-]+(?::\d{0,5})?$|^\[[0-9A-Fa-f:.]+\](?::\d{0,5})?$/;
const goodLength = /^[ \t]*\d{1,19}[ \t]*$/;
const goodExtensions =
  /^(?:[ \t]*;[ \t]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:[ \t]*=[ \t]*(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/;
const goodCoding = /^[ \t]*chunked[ \t]*$/i;

/**
 * Every way in which the gateway is stricter than Node's parser, and how to recognise it. Two parsers could read each
 * of these differently (RFC 9112 11.2), so the gateway refuses them.
 */
const rules: readonly StricterRule[] = [
  {
    reason: 'a line of the head does not end with CRLF',
    kind: 'both',
    applies: (head) => /[^\r]\n|\r[^\n]/.test(head),
  },
  {
    reason: 'more than one empty line before the request line',
    kind: 'request',
    applies: (head) => /^[\r\n]/.test(head),
  },
  {
    reason: 'the request line is not method, space, target, space, HTTP/1.0 or HTTP/1.1',
    kind: 'request',
    applies: (head) => !goodRequestLine.test(head),
  },
  {
    reason: 'the status line is not version, space, three digits, space, reason',
    kind: 'response',
    applies: (head) => !goodStatusLine.test(head),
  },
  {
    reason: 'a fragment in the target',
    kind: 'request',
    applies: (head) => /^\S+ [^ ]*#/.test(head),
  },
  {
    reason: 'a target that is neither a path nor an absolute one for the same host',
    kind: 'request',
    applies: (head, lines) => isForeignTarget(head, valuesOf(lines, 'host')[0]?.trim() ?? ''),
  },
  {
    reason: 'a field line continued on the next (obs-fold)',
    kind: 'both',
    applies: (head) => /\r\n[ \t]/.test(head),
  },
  {
    reason: 'not exactly one Host',
    kind: 'request',
    applies: (_head, lines) => valuesOf(lines, 'host').length !== 1,
  },
  {
    reason: 'a Host that is no host and port',
    kind: 'request',
    applies: (_head, lines) =>
      valuesOf(lines, 'host').some((value) => !goodHost.test(value.replace(/^[ \t]+|[ \t]+$/g, ''))),
  },
  {
    reason: 'a Content-Length that is not up to 19 digits between blanks',
    kind: 'both',
    applies: (_head, lines) => valuesOf(lines, 'content-length').some((value) => !goodLength.test(value)),
  },
  {
    reason: 'a repeated Content-Length',
    kind: 'both',
    applies: (_head, lines) => valuesOf(lines, 'content-length').length > 1,
  },
  {
    reason: 'a Transfer-Encoding that is not exactly chunked',
    kind: 'both',
    applies: (_head, lines) => valuesOf(lines, 'transfer-encoding').some((value) => !goodCoding.test(value)),
  },
  {
    reason: 'a repeated Transfer-Encoding',
    kind: 'both',
    applies: (_head, lines) => valuesOf(lines, 'transfer-encoding').length > 1,
  },
  {
    reason: 'Content-Length and Transfer-Encoding together',
    kind: 'both',
    applies: (_head, lines) =>
      valuesOf(lines, 'content-length').length > 0 && valuesOf(lines, 'transfer-encoding').length > 0,
  },
  {
    reason: 'Transfer-Encoding on HTTP/1.0',
    kind: 'both',
    applies: (head, lines) => /^[^\r]*HTTP\/1\.0/.test(head) && valuesOf(lines, 'transfer-encoding').length > 0,
  },
  {
    reason: 'a framing field spelled with an underscore',
    kind: 'both',
    applies: (_head, lines) => lines.some((line) => /^(?:content_length|transfer_encoding):/i.test(line)),
  },
  {
    reason: 'an expectation other than 100-continue',
    kind: 'request',
    applies: (_head, lines) =>
      valuesOf(lines, 'expect').some((value) => trimBlanks(value).toLowerCase() !== '100-continue') ||
      valuesOf(lines, 'expect').length > 1,
  },
  {
    reason: 'a chunk size of more than 16 digits',
    kind: 'both',
    applies: (_head, _lines, message) => /\r\n[0-9A-Fa-f]{17,}[ \t;\r]/.test(message),
  },
  {
    reason: 'a chunk extension that is not a name, or a name and a value',
    kind: 'both',
    applies: (_head, _lines, message) =>
      [...message.matchAll(/\r\n[0-9A-Fa-f]+([ \t;][^\r\n]*)(?=\r\n)/g)].some(
        ([, text = '']) => !goodExtensions.test(text),
      ),
  },
];

/** True when a chunk has extensions that RFC 9112 7.1.1 allows, with blanks between their parts. */
export function hasBlanksInExtensions(message: string): boolean {
  const found = message.matchAll(/\r\n[0-9A-Fa-f]{1,16}([ \t;][^\r\n]*)(?=\r\n)/g);
  return [...found].some(([, text = '']) => /[ \t]/.test(text) && goodExtensions.test(text));
}

/** The first listed reason that applies to a message that the gateway refused and Node accepted; null if none does. */
export function stricterReason(kind: MessageKind, message: string): string | null {
  const stop = message.indexOf('\r\n\r\n');
  const head = stop < 0 ? message : message.slice(0, stop + 4);
  const lines = head.split('\r\n').slice(1, stop < 0 ? undefined : -2);
  const rule = rules.find((rule) => (rule.kind === 'both' || rule.kind === kind) && rule.applies(head, lines, message));
  return rule?.reason ?? null;
}

function valuesOf(lines: readonly string[], name: string): string[] {
  return lines
    .filter((line) => line.slice(0, line.indexOf(':')).toLowerCase() === name)
    .map((line) => line.slice(line.indexOf(':') + 1));
}

function isForeignTarget(head: string, host: string): boolean {
  const [method, target = ''] = head.split(' ');
  if (target.startsWith('/')) return false;
  if (target === '*') return method !== 'OPTIONS';
  const authority = /^https?:\/\/([^/?]*)/i.exec(target)?.[1];
  return authority === undefined || authority.toLowerCase() !== host.toLowerCase();
}
