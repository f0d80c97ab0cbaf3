/** The LDAP messages (RFC 4511) for a simple bind and StartTLS, in BER. */

const bindTag = 0x60;
const extendedTag = 0x77;
const startTls = '1.3.6.1.4.1.1466.20037';

/** Tags of the responses. */
export const bindAnswer = 0x61;
export const extendedAnswer = 0x78;

/** Larger responses are refused; those to a bind have about 20 bytes and a text. */
const maxAnswer = 65_536;

export interface LdapAnswer {
  readonly id: number;
  /** `bindAnswer` or `extendedAnswer`. */
  readonly operation: number;
  /** 0: success (RFC 4511, appendix A). */
  readonly resultCode: number;
  /** The server's diagnostic message, cut to 200 characters. */
  readonly diagnostic: string;
  /** Bytes of the whole message. */
  readonly size: number;
}

/** A simple bind. An empty password would succeed for any client (RFC 4513, 5.1.2). */
export function bindRequest(id: number, name: string, password: Uint8Array): Buffer {
  if (name === '' || password.byteLength === 0) throw new TypeError('a bind needs a name and a password');
  return message(id, element(bindTag, integer(3), element(0x04, Buffer.from(name)), element(0x80, password)));
}

export function startTlsRequest(id: number): Buffer {
  return message(id, element(extendedTag, element(0x80, Buffer.from(startTls))));
}

/** Unbind: ends the connection; has no response. */
export function unbindRequest(id: number): Buffer {
  return message(id, element(0x42));
}

/** Parses the first response in the bytes; null when it is incomplete. Throws for anything else. */
export function readAnswer(bytes: Buffer): LdapAnswer | null {
  const whole = readHead(bytes, 0, bytes.byteLength);
  if (whole === null) return null;
  if (whole.tag !== 0x30 || whole.end > maxAnswer) throw new Error('the server speaks no LDAP');
  if (whole.end > bytes.byteLength) return null;
  const id = expect(bytes, whole.start, whole.end, 0x02);
  const operation = within(bytes, id.end, whole.end);
  if (operation.tag !== bindAnswer && operation.tag !== extendedAnswer) throw new Error('an unexpected response');
  const code = expect(bytes, operation.start, operation.end, 0x0a);
  const matched = expect(bytes, code.end, operation.end, 0x04);
  const text = expect(bytes, matched.end, operation.end, 0x04);
  return {
    id: readInteger(bytes, id),
    operation: operation.tag,
    resultCode: readInteger(bytes, code),
    diagnostic: bytes.toString('utf8', text.start, Math.min(text.end, text.start + 800)).slice(0, 200),
    size: whole.end,
  };
}

/** One element: `start` and `end` are of its content. */
interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** Tag and length at this offset; null when incomplete. Some servers encode lengths with more bytes than needed. */
function readHead(bytes: Buffer, at: number, limit: number): Element | null {
  if (at + 2 > limit) return null;
  const first = bytes[at + 1]!;
  if (first < 0x80) return { tag: bytes[at]!, start: at + 2, end: at + 2 + first };
  const size = first & 0x7f;
  if (size === 0 || size > 4) throw new Error('a length that LDAP does not allow');
  if (at + 2 + size > limit) return null;
  const start = at + 2 + size;
  return { tag: bytes[at]!, start, end: start + bytes.readUIntBE(at + 2, size) };
}

function within(bytes: Buffer, at: number, limit: number): Element {
  const found = readHead(bytes, at, limit);
  if (found === null || found.end > limit) throw new Error('a malformed answer');
  return found;
}

function expect(bytes: Buffer, at: number, limit: number, tag: number): Element {
  const found = within(bytes, at, limit);
  if (found.tag !== tag) throw new Error('a malformed answer');
  return found;
}

function readInteger(bytes: Buffer, { start, end }: Element): number {
  if (end - start < 1 || end - start > 4) throw new Error('a malformed answer');
  return bytes.readIntBE(start, end - start);
}

function message(id: number, operation: Uint8Array): Buffer {
  return element(0x30, integer(id), operation);
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return element(0x02, bytes);
}

function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { byteLength } = content;
  if (byteLength < 0x80) return Buffer.concat([Buffer.of(tag, byteLength), content]);
  const head = Buffer.of(tag, 0x84, 0, 0, 0, 0);
  head.writeUInt32BE(byteLength, 2);
  return Buffer.concat([head, content]);
}
