/** RFC 1035 2.3.4; the length counts the bytes of the wire form. */
const maxLabel = 63;
const maxName = 255;
/** A name has no more labels than this, and needs no more than one pointer for each. */
const maxPointers = 127;

/**
 * The wire form of a name (RFC 1035 3.1), or null when it cannot be one: empty or too long labels, or characters that
 * no host has. A final dot changes nothing.
 */
export function encodeName(name: string): Buffer | null {
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  if (bare.length === 0 || bare.length + 2 > maxName || !/^[\x21-\x5b\x5d-\x7e]+$/.test(bare)) return null;
  const bytes = Buffer.alloc(bare.length + 2);
  let at = 0;
  for (const label of bare.split('.')) {
    if (label.length === 0 || label.length > maxLabel) return null;
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

/** A name, or the rest of one after some labels. */
interface Tail extends NameRead {
  /** Bytes of the wire form without compression. */
  readonly length: number;
  readonly pointers: number;
}

/**
 * The names of one message by where each label of theirs starts. Thousands of records can point to the same long name;
 * with this each label of a message is read once.
 */
export type KnownNames = Map<number, Tail>;

/** A label, or a pointer when the text is null. */
interface Step {
  readonly at: number;
  readonly label: string | null;
  /** Of the label, with the byte of its length; 0 for a pointer. */
  readonly size: number;
}

/**
 * Reads a name that may be compressed (RFC 1035 4.1.4). Pointers must lead backwards, each before all earlier ones, and be
 * few: every name ends soon. Bytes that no host name has are written `\DDD` (RFC 1035 5.1): such a name equals no queried one, and
 * `encodeName` refuses it. `known`: one map for all names of a message. Throws a `RangeError` for what is no name.
 */
export function readName(message: Buffer, start: number, known: KnownNames = new Map()): NameRead {
  const steps: Step[] = [];
  let at = start;
  let lowest = start;
  let length = 1;
  let pointers = 0;
  for (;;) {
    const tail = known.get(at) ?? readRoot(message, at);
    if (tail !== null) {
      if (length - 1 + tail.length > maxName) throw new RangeError('a name is too long');
      if (pointers + tail.pointers > maxPointers) throw new RangeError('a compressed name leads nowhere');
      return addSteps(steps, tail, known);
    }
    const size = byteAt(message, at);
    if (size >= 0xc0) {
      const target = ((size & 0x3f) << 8) | byteAt(message, at + 1);
      if (target >= lowest || ++pointers > maxPointers) throw new RangeError('a compressed name leads nowhere');
      steps.push({ at, label: null, size: 0 });
      at = target;
      lowest = target;
      continue;
    }
    length += size + 1;
    if (size > maxLabel || length > maxName || at + 1 + size > message.length) {
      throw new RangeError('a name is too long');
    }
    steps.push({ at, label: readLabel(message, at + 1, at + 1 + size), size: size + 1 });
    at += size + 1;
  }
}

/** Null when the name continues here. */
function readRoot(message: Buffer, at: number): Tail | null {
  return byteAt(message, at) === 0 ? { name: '', end: at + 1, length: 1, pointers: 0 } : null;
}

/** Puts the steps before the tail, from the last one to the first, and keeps the name from each of them on. */
function addSteps(steps: readonly Step[], last: Tail, known: KnownNames): Tail {
  let tail = last;
  for (let index = steps.length - 1; index >= 0; index--) {
    const { at, label, size } = steps[index] as Step;
    const { name, length, pointers } = tail;
    if (label === null) tail = { name, end: at + 2, length, pointers: pointers + 1 };
    else tail = { name: name === '' ? label : `${label}.${name}`, end: tail.end, length: length + size, pointers };
    known.set(at, tail);
  }
  return tail;
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
