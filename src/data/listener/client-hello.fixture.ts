/** A ClientHello built from parts that a test can make invalid. */
export interface HelloParts {
  readonly version?: number;
  readonly session?: Buffer;
  readonly ciphers?: Buffer;
  readonly compressions?: Buffer;
  /** Type and content. */
  readonly extensions?: readonly (readonly [number, Buffer])[] | null;
  /** After the extensions. */
  readonly rest?: Buffer;
}

export function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** A field with its length in `bytes` bytes before it. */
export function vector(bytes: 1 | 2 | 3, content: Buffer): Buffer {
  const length = Buffer.alloc(bytes);
  length.writeUIntBE(content.length, 0, bytes);
  return Buffer.concat([length, content]);
}

export function sniExtension(name: string | Buffer, type = 0): readonly [number, Buffer] {
  return [0, vector(2, Buffer.concat([Buffer.from([type]), vector(2, Buffer.from(name))]))];
}

/** The handshake message, without a record around it. */
export function helloMessage(parts: HelloParts = {}): Buffer {
  const { extensions = [sniExtension('a.test')] } = parts;
  const encoded = (extensions ?? []).map(([type, content]) => Buffer.concat([u16(type), vector(2, content)]));
  const body = Buffer.concat([
    u16(parts.version ?? 0x0303),
    Buffer.alloc(32, 7),
    vector(1, parts.session ?? Buffer.alloc(32)),
    vector(2, parts.ciphers ?? Buffer.from([0x13, 0x01, 0x1a, 0x1a])),
    vector(1, parts.compressions ?? Buffer.from([0])),
    ...(extensions === null ? [] : [vector(2, Buffer.concat(encoded))]),
    parts.rest ?? Buffer.alloc(0),
  ]);
  return Buffer.concat([Buffer.from([1]), vector(3, body)]);
}

/** The message in records of at most `size` bytes. */
export function inRecords(message: Buffer, size = 16_384): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    records.push(Buffer.concat([Buffer.from([22, 3, 1]), vector(2, message.subarray(at, at + size))]));
  }
  return Buffer.concat(records);
}
