import { METHODS } from 'node:http';
import type { Reading, ReadMessage } from './message.ts';
import { hasBlanksInExtensions, type MessageKind, stricterReason } from './stricter.ts';

/** Something the two parsers must not disagree about. */
export interface Finding {
  readonly what: 'looser' | 'different' | 'unexplained';
  readonly detail: string;
}

export interface Comparison {
  readonly finding: Finding | null;
  /** The named reason when the gateway was stricter. */
  readonly stricter: string | null;
  /** Messages that both accepted and read the same way. */
  readonly agreed: number;
}

/**
 * The rule: the gateway refuses what Node's parser refuses; if it is stricter, the reason is on a list
 * (stricter.ts); what both accept, both read the same way.
 */
export function compareReadings(kind: MessageKind, bytes: string, ours: Reading, theirs: Reading): Comparison {
  for (let index = 0; ; index++) {
    const our = ours.messages[index];
    const their = theirs.messages[index];
    if (our !== undefined && their !== undefined) {
      const difference = differenceOf(kind, our, their);
      // Node does not trim the tab, so it reads the body until the connection closes.
      if (difference !== null && chunkedWithTab.test(bytes)) return { finding: null, stricter: null, agreed: index };
      if (difference !== null)
        return { finding: { what: 'different', detail: difference }, stricter: null, agreed: index };
    } else if (our !== undefined) {
      if (isAllowed(our, theirs, bytes)) return { finding: null, stricter: null, agreed: index };
      const detail = `message ${index} accepted as ${JSON.stringify(our)}; Node: ${theirs.outcome} ${theirs.reason}`;
      return { finding: { what: 'looser', detail }, stricter: null, agreed: index };
    } else if (their !== undefined) {
      if (ours.outcome === 'end') return { finding: null, stricter: null, agreed: index };
      const reason = stricterReason(kind, bytes.slice(ours.at));
      if (reason !== null) return { finding: null, stricter: reason, agreed: index };
      const detail = `${ours.outcome} ${ours.reason} at ${ours.at}; Node reads ${JSON.stringify(their)}`;
      return { finding: { what: 'unexplained', detail }, stricter: null, agreed: index };
    } else return { finding: null, stricter: null, agreed: index };
  }
}

const chunkedWithTab = /^transfer-encoding:[ \t]*chunked[ \t]*\t[ \t]*\r$/im;

/** Messages that Node's parser refuses but a gateway must accept. */
function isAllowed(our: ReadMessage, theirs: Reading, bytes: string): boolean {
  const [method = ''] = our.start.split(' ');
  switch (theirs.reason) {
    case 'HPE_INVALID_METHOD':
      // Node knows a list of methods; any token is one (RFC 9110 9.1).
      return !METHODS.includes(method);
    case 'HPE_INVALID_URL':
      // Clients send paths in raw UTF-8; they are percent-encoded for the backend.
      return /%[89A-F][0-9A-F]/.test(our.start) && /[\x80-\xff]/.test(bytes);
    case 'HPE_INVALID_CHUNK_SIZE':
    case 'HPE_STRICT':
      // Recipients must accept blanks around the `;` and `=` of chunk extensions (RFC 9112 7.1.1).
      return hasBlanksInExtensions(bytes);
    case 'HPE_INVALID_TRANSFER_ENCODING':
    case 'HPE_UNEXPECTED_CONTENT_LENGTH':
    case 'HPE_INVALID_CONTENT_LENGTH':
      // Both accept the framing of the head, so the refused field is in the trailers, where the gateway drops it.
      return our.headers.some(([name, value]) => /^transfer-encoding$/i.test(name) && /^chunked$/i.test(value));
    case 'HPE_HEADER_OVERFLOW':
      // Node limits this to 16 KiB.
      return true;
    default:
      // After an upgrade request Node drops the reason.
      return our.headers.some(([name]) => /^upgrade$/i.test(name)) && hasBlanksInExtensions(bytes);
  }
}

function differenceOf(kind: MessageKind, our: ReadMessage, their: ReadMessage): string | null {
  const theirStart = kind === 'request' ? originForm(their.start) : their.start;
  if (our.start !== theirStart) return `start ${JSON.stringify(our.start)}, Node ${JSON.stringify(theirStart)}`;
  if (our.version !== their.version) return `version ${our.version}, Node ${their.version}`;
  const ourHeaders = JSON.stringify(our.headers);
  const theirHeaders = JSON.stringify(their.headers);
  if (ourHeaders !== theirHeaders) return `headers ${ourHeaders}, Node ${theirHeaders}`;
  if (our.body !== their.body) return `body ${JSON.stringify(our.body)}, Node ${JSON.stringify(their.body)}`;
  return null;
}

/** The gateway converts absolute-form and asterisk-form to origin-form. */
function originForm(start: string): string {
  const [method, target = ''] = start.split(' ');
  if (target === '*') return `${method} /*`;
  const absolute = /^https?:\/\/[^/?]*(.*)$/i.exec(target);
  if (absolute === null) return start;
  const rest = absolute[1] as string;
  return `${method} ${rest.startsWith('/') ? rest : `/${rest}`}`;
}
