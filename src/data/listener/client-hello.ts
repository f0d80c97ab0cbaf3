import type { Inspection } from '../../shared/proxy-protocol/first-bytes.ts';

/** What the gateway reads of a TLS client's first message. */
export interface ClientHello {
  /**
   * Server name in lower case without a trailing dot; '' when there is no name. With ECH it is that of the outer
   * message.
   */
  readonly serverName: string;
  /** Cipher suites offered, two bytes each. */
  readonly ciphers: Buffer;
}

/**
 * A ClientHello must be complete within this many bytes, record headers included. Real ones are below a tenth of it.
 */
export const maxClientHelloLength = 16_384;

const recordHeader = 5;
/** Each read inspects all records again, so a message spread over more records only costs work. */
const maxRecords = 256;
const maxRecordSize = 16_384;
const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;

const more: Inspection<never> = { kind: 'more' };

/**
 * Reads the server name and the ciphers from the ClientHello (RFC 8446 4.1.2 and 5.1, RFC 6066 3) at the start of a
 * connection, without consuming bytes. The message may be spread over several records. Strict where two parsers could
 * disagree: it rejects repeated extensions, several names, inconsistent lengths and invalid names.
 */
export function inspectClientHello(bytes: Buffer): Inspection<ClientHello> {
  const message = joinRecords(bytes);
  if ('kind' in message) return message;
  const hello = readHello(message.body);
  return hello === null ? bad('a malformed ClientHello') : { kind: 'done', consumed: 0, value: hello };
}

function bad(reason: string): Inspection<never> {
  return { kind: 'bad', reason };
}

/** The body of the first handshake message. */
function joinRecords(bytes: Buffer): { readonly body: Buffer } | Inspection<never> {
  const pieces: Buffer[] = [];
  let have = 0;
  let needed = 4;
  let at = 0;
  while (have < needed) {
    if (at < bytes.length && bytes[at] !== handshakeRecord) return bad('not a TLS handshake');
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return bad('not a TLS handshake');
    if (bytes.length < at + recordHeader) return more;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > maxRecordSize) return bad('a TLS record with an invalid length');
    if (pieces.length === maxRecords) return bad(`a ClientHello in more than ${maxRecords} records`);
    const piece = bytes.subarray(at + recordHeader, at + recordHeader + length);
    pieces.push(piece);
    have += piece.length;
    if (needed === 4 && have >= 4) {
      const head = pieces.length === 1 ? piece : Buffer.concat(pieces);
      if (head[0] !== clientHello) return bad('not a ClientHello');
      needed = 4 + head.readUIntBE(1, 3);
      if (needed > maxClientHelloLength) return bad(`a ClientHello of more than ${maxClientHelloLength} bytes`);
    } else if (have > 0 && pieces[0]?.[0] !== clientHello) return bad('not a ClientHello');
    if (have < needed && piece.length < length) return more;
    at += recordHeader + length;
  }
  const whole = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  return { body: whole.subarray(4, needed) };
}

/** Reads fields that have their length before them. A field that does not fit sets `broken` for good. */
class FieldReader {
  broken = false;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.broken || this.#at === this.#bytes.length;
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (this.broken || end > this.#bytes.length) {
      this.broken = true;
      return nothing;
    }
    const field = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return field;
  }

  number(bytes: 1 | 2): number {
    const field = this.take(bytes);
    return field.length === 0 ? 0 : field.readUIntBE(0, bytes);
  }

  /** A field whose length is in the `bytes` bytes before it. */
  vector(bytes: 1 | 2): Buffer {
    return this.take(this.number(bytes));
  }
}

const nothing = Buffer.alloc(0);

/** Null: the message is malformed. */
function readHello(body: Buffer): ClientHello | null {
  const fields = new FieldReader(body);
  const version = fields.number(2);
  fields.take(32);
  const session = fields.vector(1);
  const ciphers = fields.vector(2);
  const compressions = fields.vector(1);
  if (fields.broken || version >> 8 !== 3 || session.length > 32) return null;
  if (ciphers.length < 2 || ciphers.length % 2 !== 0 || compressions.length === 0) return null;
  if (fields.atEnd) return { serverName: '', ciphers };
  const extensions = new FieldReader(fields.vector(2));
  if (fields.broken || !fields.atEnd) return null;
  const serverName = findServerName(extensions);
  return serverName === null ? null : { serverName, ciphers };
}

function findServerName(extensions: FieldReader): string | null {
  const seen = new Set<number>();
  let name: string | null = '';
  while (!extensions.atEnd) {
    const type = extensions.number(2);
    const data = extensions.vector(2);
    if (extensions.broken || seen.has(type)) return null;
    seen.add(type);
    if (type === serverNameExtension) name = readName(data);
    if (name === null) return null;
  }
  return extensions.broken ? null : name;
}

/** As in OpenSSL: a list of exactly one name, which is a host name. */
function readName(data: Buffer): string | null {
  const outer = new FieldReader(data);
  const list = new FieldReader(outer.vector(2));
  if (outer.broken || !outer.atEnd) return null;
  const type = list.number(1);
  const name = list.vector(2).toString('latin1').toLowerCase().replace(/\.$/, '');
  if (list.broken || !list.atEnd || type !== 0) return null;
  return name.length <= 255 && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name) ? name : null;
}
