import { latin1 } from '../../util/bytes/latin1.ts';
import { DynamicTable } from './dynamic-table.ts';
import { isConnectionSpecific, isFieldName, isFieldValue } from './field-grammar.ts';
import { fieldOverhead, HeaderField, type HeaderList } from './header-list.ts';
import { decodeHuffman, maxDecodedLength } from './huffman-decoder.ts';
import { firstDynamicIndex, staticTable } from './static-table.ts';

const staticFields: readonly (HeaderField | null)[] = [
  null,
  ...staticTable.map(([name, value]) => new HeaderField(name, value, !isConnectionSpecific(name), true)),
];

/** Bytes of a dynamic table until a size update changes them (RFC 9113 6.5.2). */
const initialTableSize = 4096;

/** Continuation bytes of an integer: 28 bits are more than any block has. */
const maxIntegerBytes = 4;

/** Decoded strings of one field. A field is complete before the next begins, so all decoders share it. */
let scratch: Uint8Array = new Uint8Array(4096);

/** Offset behind the integer or string that was read last. */
let next = 0;
/** The string that was read last: a range of the block or of `scratch`. */
let textBytes: Uint8Array = scratch;
let textStart = 0;
let textEnd = 0;

/** Decodes the header blocks of one connection, in their order (RFC 7541). */
export class HpackDecoder {
  readonly #table: DynamicTable<HeaderField>;
  readonly #maxTableSize: number;

  /** `maxTableSize`: SETTINGS_HEADER_TABLE_SIZE as the peer has acknowledged it; bytes. */
  constructor(maxTableSize = initialTableSize) {
    this.#maxTableSize = maxTableSize;
    this.#table = new DynamicTable(Math.min(maxTableSize, initialTableSize));
  }

  /** Bytes of the dynamic table. */
  get tableSize(): number {
    return this.#table.size;
  }

  /**
   * Decodes a whole block into the list, which says what may be kept; the rest is decoded too, because later blocks
   * refer to it. False: the block is invalid, and the connection ends with COMPRESSION_ERROR.
   */
  decode(bytes: Uint8Array, start: number, end: number, list: HeaderList): boolean {
    let at = this.#resize(bytes, start, end);
    while (at >= 0 && at < end) {
      const first = bytes[at] as number;
      if (first >= 0x80) {
        const index = readInteger(bytes, at, end, 0x7f);
        const field = this.#field(index);
        if (field === null) return false;
        if (list.admit(field.size)) list.keep(field);
        at = next;
      } else if (first >= 0x40) at = this.#literal(bytes, at, end, 0x3f, list);
      else if (first >= 0x20) return false;
      else at = this.#literal(bytes, at, end, 0x0f, list);
    }
    return at === end;
  }

  /** Reads the size updates, which are only allowed at the start of a block. Returns the offset behind them, or -1. */
  #resize(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && ((bytes[at] as number) & 0xe0) === 0x20) {
      const size = readInteger(bytes, at, end, 0x1f);
      if (size < 0 || size > this.#maxTableSize) return -1;
      this.#table.resize(size);
      at = next;
    }
    return at;
  }

  #field(index: number): HeaderField | null {
    if (index >= firstDynamicIndex) return this.#table.get(index - firstDynamicIndex);
    return index <= 0 ? null : (staticFields[index] as HeaderField);
  }

  /** Reads a literal field; `mask`: bits of its first byte that belong to the index of its name. Returns the offset behind it, or -1. */
  #literal(bytes: Uint8Array, start: number, end: number, mask: number, list: HeaderList): number {
    const index = readInteger(bytes, start, end, mask);
    if (index < 0) return -1;
    let known: HeaderField | null = null;
    let nameBytes = scratch;
    let nameStart = 0;
    let nameEnd = 0;
    let decoded = 0;
    if (index > 0) {
      known = this.#field(index);
      if (known === null) return -1;
    } else {
      if (!readText(bytes, next, end, 0)) return -1;
      nameBytes = textBytes;
      nameStart = textStart;
      nameEnd = textEnd;
      if (nameBytes === scratch) decoded = nameEnd;
    }
    const nameLength = known === null ? nameEnd - nameStart : known.name.length;
    if (!readText(bytes, next, end, decoded)) return -1;
    // The value may have needed a larger one.
    if (decoded > 0) nameBytes = scratch;

    const kept = list.admit(nameLength + textEnd - textStart + fieldOverhead);
    const indexed = mask === 0x3f;
    if (!kept && !indexed) return next;
    const name = known === null ? latin1(nameBytes, nameStart, nameEnd) : known.name;
    const nameValid =
      known === null ? isFieldName(nameBytes, nameStart, nameEnd) && !isConnectionSpecific(name) : known.nameValid;
    const value = textStart === textEnd ? '' : latin1(textBytes, textStart, textEnd);
    const field = new HeaderField(name, value, nameValid, isFieldValue(textBytes, textStart, textEnd));
    if (kept) list.keep(field);
    if (indexed) this.#table.insert(field);
    return next;
  }
}

/** Reads an integer whose first bits are those of `mask` (RFC 7541 5.1) and sets `next`. -1: cut off, or too large. */
function readInteger(bytes: Uint8Array, start: number, end: number, mask: number): number {
  let value = (bytes[start] as number) & mask;
  next = start + 1;
  if (value < mask) return value;
  for (let shift = 0; shift < maxIntegerBytes * 7; shift += 7) {
    if (next >= end) return -1;
    const byte = bytes[next++] as number;
    value += (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return -1;
}

/** Reads a string (RFC 7541 5.2) and sets `next`; a Huffman code is decoded to `scratch` from `offset` on. */
function readText(bytes: Uint8Array, start: number, end: number, offset: number): boolean {
  if (start >= end) return false;
  const length = readInteger(bytes, start, end, 0x7f);
  if (length < 0 || length > end - next) return false;
  const from = next;
  next += length;
  if ((bytes[start] as number) < 0x80) {
    textBytes = bytes;
    textStart = from;
    textEnd = next;
    return true;
  }
  const needed = offset + maxDecodedLength(length);
  if (needed > scratch.length) {
    const larger = new Uint8Array(needed * 2);
    larger.set(scratch.subarray(0, offset));
    scratch = larger;
  }
  textBytes = scratch;
  textStart = offset;
  textEnd = decodeHuffman(bytes, from, next, scratch, offset);
  return textEnd >= 0;
}
