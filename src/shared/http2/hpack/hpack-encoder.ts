import { writeLatin1 } from '../../util/bytes/latin1.ts';
import type { BlockBuffer } from './block-buffer.ts';
import { DynamicTable, type TableEntry } from './dynamic-table.ts';
import { beginsWith, Coding, FieldRule, FieldRules, slotCount } from './field-rules.ts';
import { fieldOverhead } from './header-list.ts';
import { appendText } from './huffman-encoder.ts';
import { firstDynamicIndex, staticTable } from './static-table.ts';

/** Initial size of the table, and the largest that an encoder uses; bytes. */
const maxTable = 4096;
/** Entries of one name that are compared with a value, the newest first. */
const maxCompared = 4;
/** Longer values are not indexed: they would evict most others. */
const maxIndexedValue = 512;

/** Room for what is not in a block: size updates, status or method, length, `te`. */
const pseudoFields = 128;

class EncoderEntry implements TableEntry {
  readonly value: Uint8Array;
  readonly size: number;
  /** Number of the entry inserted before with the same name; -1: none. */
  readonly previous: number;

  constructor(nameLength: number, value: Uint8Array, previous: number) {
    this.value = value;
    this.size = nameLength + value.length + fieldOverhead;
    this.previous = previous;
  }
}

/** Connection-specific fields, which HTTP/2 does not allow (RFC 9113 8.2.2). */
const connectionSpecific: readonly string[] = [
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings', 'te'],
];

/** Lengths are sent by the engine itself; `Sec-WebSocket-Accept` is part of a handshake that HTTP/2 does not need (RFC 8441 5). */
const ofResponses = new FieldRules([...connectionSpecific, 'content-length', 'sec-websocket-accept']);
/** `Host` becomes `:authority`. */
const ofRequests = new FieldRules([...connectionSpecific, 'host']);

const status = new FieldRule(':status', Coding.indexed);
const method = new FieldRule(':method', Coding.indexed);
const authority = new FieldRule(':authority', Coding.indexed);
const te = new FieldRule('te', Coding.indexed);

/** Static indexes of what needs no comparison. */
const statusIndexes: ReadonlyMap<number, number> = new Map(
  staticTable.flatMap(([name, value], at) => (name === ':status' ? [[Number(value), at + 1] as const] : [])),
);
const pathIndex = 4;
const schemeIndexes = { http: 6, https: 7 };
const contentLengthIndex = 28;
const trailers = Buffer.from('trailers', 'latin1');

const colon = 0x3a;
const carriageReturn = 0x0d;

/** The text that is being encoded: a loop over bytes costs a tenth of one over the chars of a string. */
let source: Buffer = Buffer.allocUnsafeSlow(4096);
const digits: Buffer = Buffer.allocUnsafeSlow(32);

/** Encodes the header blocks of one connection, in the order in which they are sent (RFC 7541). */
export class HpackEncoder {
  readonly #table = new DynamicTable<EncoderEntry>(maxTable);
  /** Numbers of the newest entry of each name with a slot; -1: none. */
  readonly #newest = new Int32Array(slotCount).fill(-1);
  /** Sizes that the peer has to be notified of at the start of the next block: the smallest, and the last one. */
  #smallest = maxTable;
  #announced = maxTable;

  /** The peer allows a dynamic table of this size: SETTINGS_HEADER_TABLE_SIZE, bytes. */
  setMaxTableSize(size: number): void {
    const used = Math.min(size, maxTable);
    this.#smallest = Math.min(this.#smallest, used);
    this.#table.resize(used);
  }

  /**
   * Appends the block of a response. `block`: lines of a header block, without those that HTTP/2 does not have and
   * without a length. `contentLength`: -1 for none.
   */
  response(to: BlockBuffer, code: number, block: string, contentLength: number): void {
    this.#begin(to, block);
    const known = statusIndexes.get(code);
    if (known !== undefined) to.integer(0x80, 0x7f, known);
    else this.#indexed(to, status, digits, 0, writeLatin1(digits, String(code), 0));
    this.#lines(to, ofResponses, block, 0, block.length);
    if (contentLength < 0) return;
    to.integer(0, 0x0f, contentLengthIndex);
    to.plain(digits, 0, writeLatin1(digits, String(contentLength), 0));
  }

  /**
   * Appends the block of a request from its HTTP/1.1 head, through the empty line at its end. The target becomes the path.
   * A gRPC backend requires a statement that trailers are accepted (`te: trailers`).
   */
  request(to: BlockBuffer, head: string, scheme: 'http' | 'https'): void {
    const line = head.indexOf('\r\n');
    const first = head.indexOf(' ');
    const last = head.lastIndexOf(' ', line);
    this.#begin(to, head);
    this.#value(to, method, 0, first);
    to.integer(0x80, 0x7f, schemeIndexes[scheme]);
    const host = findHost(head, line + 2);
    if (host < 0) this.#indexed(to, authority, source, 0, 0);
    else this.#value(to, authority, host, endOfLine(source, host));
    to.integer(0, 0x0f, pathIndex);
    to.plain(source, first + 1, last);
    this.#lines(to, ofRequests, head, line + 2, head.length - 2);
    this.#indexed(to, te, trailers, 0, trailers.length);
  }

  /** Appends the block of a trailer section. */
  trailers(to: BlockBuffer, block: string): void {
    this.#begin(to, block);
    this.#lines(to, ofResponses, block, 0, block.length);
  }

  /** Makes room for all that a block becomes, copies its text to `source`, and announces changes of the table's size (RFC 7541 4.2). */
  #begin(to: BlockBuffer, block: string): void {
    // The shortest line has four chars, and at most six bytes more than that are sent.
    to.reserve(block.length * 3 + pseudoFields);
    if (block.length > source.length) source = Buffer.allocUnsafeSlow(block.length * 2);
    writeLatin1(source, block, 0);
    const { maxSize } = this.#table;
    if (this.#smallest < Math.min(this.#announced, maxSize)) to.integer(0x20, 0x1f, this.#smallest);
    if (this.#announced !== maxSize || this.#smallest < maxSize) to.integer(0x20, 0x1f, maxSize);
    this.#announced = maxSize;
    this.#smallest = maxSize;
  }

  #lines(to: BlockBuffer, rules: FieldRules, block: string, start: number, stop: number): void {
    let rule = rules.first;
    for (let at = start; at < stop; ) {
      rule = rules.at(block, source, at, rule);
      at += rule.prefix.length;
      const end = endOfLine(source, at);
      if (rule.coding !== Coding.dropped) this.#value(to, rule, at, end);
      at = end + 2;
    }
  }

  /** Appends a field whose value is a part of `source`, with blanks around it. */
  #value(to: BlockBuffer, rule: FieldRule, start: number, end: number): void {
    let from = start;
    let until = end;
    while (from < until && isBlank(source[from] as number)) from++;
    while (until > from && isBlank(source[until - 1] as number)) until--;
    const { coding } = rule;
    if (coding === Coding.neverIndexed) this.#literal(to, 0x10, rule, from, until);
    else if (coding === Coding.literal || until - from > maxIndexedValue) this.#literal(to, 0, rule, from, until);
    else if (coding === Coding.indexed) this.#indexed(to, rule, source, from, until);
    else if (this.#nameIndex(rule) > 0) this.#literal(to, 0, rule, from, until);
    else this.#insert(to, rule, source, from, until);
  }

  /** Appends a field by its index where it has one; otherwise it gets one. Its value is a part of `bytes`. */
  #indexed(to: BlockBuffer, rule: FieldRule, bytes: Uint8Array, start: number, end: number): void {
    const { staticValues } = rule;
    for (let at = 0; at < staticValues.length; at++) {
      const value = staticValues[at] as Uint8Array;
      if (value.length !== end - start || !beginsWith(bytes, start, value)) continue;
      to.integer(0x80, 0x7f, rule.staticIndex + at);
      return;
    }
    const table = this.#table;
    let number = this.#newest[rule.slot] as number;
    for (let compared = 0; compared < maxCompared; compared++) {
      const entry = number < 0 ? null : table.get(table.inserted - 1 - number);
      if (entry === null) break;
      const { value } = entry;
      if (value.length === end - start && beginsWith(bytes, start, value)) {
        to.integer(0x80, 0x7f, firstDynamicIndex + table.inserted - 1 - number);
        return;
      }
      number = entry.previous;
    }
    this.#insert(to, rule, bytes, start, end);
  }

  /** Appends a literal that gets a place in the table, if it fits. */
  #insert(to: BlockBuffer, rule: FieldRule, bytes: Uint8Array, start: number, end: number): void {
    const table = this.#table;
    const index = this.#nameIndex(rule);
    const fits = rule.name.length + end - start + fieldOverhead <= table.maxSize;
    if (fits) to.integer(0x40, 0x3f, index);
    else to.integer(0, 0x0f, index);
    if (index === 0) to.append(rule.literal, 0, rule.literal.length);
    appendText(to, bytes, start, end);
    if (!fits) return;
    const value = Uint8Array.prototype.slice.call(bytes, start, end);
    table.insert(new EncoderEntry(rule.name.length, value, this.#newest[rule.slot] as number));
    this.#newest[rule.slot] = table.inserted - 1;
  }

  /** `flags`: which kind of literal. */
  #literal(to: BlockBuffer, flags: number, rule: FieldRule, start: number, end: number): void {
    const index = this.#nameIndex(rule);
    to.integer(flags, 0x0f, index);
    if (index === 0) to.append(rule.literal, 0, rule.literal.length);
    to.plain(source, start, end);
  }

  /** The index of an entry with this name; 0: none. */
  #nameIndex(rule: FieldRule): number {
    if (rule.staticIndex > 0 || rule.slot < 0) return rule.staticIndex;
    const number = this.#newest[rule.slot] as number;
    const distance = this.#table.inserted - 1 - number;
    return number < 0 || distance >= this.#table.count ? 0 : firstDynamicIndex + distance;
  }
}

/** The offset of the value of the field `Host`, which comes first unless a plugin has set it; -1: there is none. */
function findHost(head: string, start: number): number {
  const stop = head.length - 2;
  for (let at = start; at < stop; at = endOfLine(source, at) + 2)
    if (source[at + 4] === colon && head.slice(at, at + 4).toLowerCase() === 'host') return at + 5;
  return -1;
}

function endOfLine(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== carriageReturn) at++;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09;
}
