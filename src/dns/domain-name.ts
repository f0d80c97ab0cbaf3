/** RFC 1035 2.3.4; the length counts the bytes of the wire form. */
const longestLabel = 63;
const longestName = 255;
/** A name has no more labels than this, and needs no more than one pointer for each. */
const mostPointers = 127;

/**
 * The wire form of a name (RFC 1035 3.1), or null when it cannot be one: empty or too long labels, or characters that
 * no host has. A final dot changes nothing.
 */
export function encodeName(name: string): Buffer | null {
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  if (bare.length === 0 || bare.length + 2 > longestName || !/^[\x21-\x5b\x5d-\x7e]+$/.test(bare)) return null;
  const bytes = Buffer.alloc(bare.length + 2);
  let at = 0;
  for (const label of bare.split('.')) {
    if (label.length === 0 || label.length > longestLabel) return null;
    bytes[at++] = label.length;
    at += bytes.write(label, at, 'latin1');
  }
  return bytes;
}

/** A name that was read, and where it ends in the message. */
export interface NameRead {
  /** Lower case, without the final dot; empty for the root. */
  readonly name: string;
  readonly end: number;
}

/**
 * Reads a name that may be compressed (RFC 1035 4.1.4). Pointers must lead backwards, each before all earlier ones, and be
 * few: every name ends soon. Bytes that no host name has are written `\DDD` (RFC 1035 5.1): such a name equals no asked one, and
 * `encodeName` refuses it. Throws a `RangeError` for what is no name.
 */
export function readName(message: Buffer, start: number): NameRead {
  let at = start;
  let lowest = start;
  let end = -1;
  let pointers = 0;
  let length = 1;
  let name = '';
  for (;;) {
    const size = byteAt(message, at);
    if (size === 0) return { name, end: end === -1 ? at + 1 : end };
    if (size >= 0xc0) {
      const target = ((size & 0x3f) << 8) | byteAt(message, at + 1);
      if (target >= lowest || ++pointers > mostPointers) throw new RangeError('a compressed name leads nowhere');
      if (end === -1) end = at + 2;
      at = target;
      lowest = target;
      continue;
    }
    length += size + 1;
    if (size > longestLabel || length > longestName || at + 1 + size > message.length) {
      throw new RangeError('a name is too long');
    }
    name += (name === '' ? '' : '.') + readLabel(message, at + 1, at + 1 + size);
    at += size + 1;
  }
}

function readLabel(message: Buffer, start: number, end: number): string {
  const label = message.toString('latin1', start, end).toLowerCase();
  if (/^[a-z0-9_-]+$/.test(label)) return label;
  return label.replaceAll(/[^\x21-\x7e]|[.\\]/g, (odd) => `\\${String(odd.charCodeAt(0)).padStart(3, '0')}`);
}

function byteAt(message: Buffer, at: number): number {
  const byte = message[at];
  if (byte === undefined) throw new RangeError('a name is cut short');
  return byte;
}
