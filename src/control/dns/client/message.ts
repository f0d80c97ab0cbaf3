import ipaddr from 'ipaddr.js';
import { encodeName, type KnownNames, readName } from './domain-name.ts';
import { type DnsRecord, type RecordTypeName, recordTypeName, recordTypes } from './record-types.ts';

const headerBytes = 12;
const classInternet = 1;

/** A query (RFC 1035 4.1): one name, one type, recursion desired. Null when the name is not valid. */
export function encodeQuestion(id: number, name: string, type: RecordTypeName): Buffer | null {
  const encoded = encodeName(name);
  if (encoded === null) return null;
  const message = Buffer.alloc(headerBytes + encoded.length + 4);
  message.writeUInt16BE(id, 0);
  message.writeUInt16BE(0x0100, 2);
  message.writeUInt16BE(1, 4);
  encoded.copy(message, headerBytes);
  message.writeUInt16BE(recordTypes[type], headerBytes + encoded.length);
  message.writeUInt16BE(classInternet, headerBytes + encoded.length + 2);
  return message;
}

/** An answer, with the record types that we support. */
export interface DnsMessage {
  /** RFC 1035 4.1.1: 0 no error, 2 server failure, 3 name error, ... */
  readonly code: number;
  /** Truncated: query again over TCP. The records are then empty. */
  readonly truncated: boolean;
  readonly answers: readonly DnsRecord[];
  /** Additional addresses from the server, for example of SRV targets. */
  readonly additional: readonly DnsRecord[];
}

/** Whether the message is an answer with this id: then the sender has seen the query. */
export function isAnswerTo(message: Buffer, id: number): boolean {
  return message.length >= headerBytes && message.readUInt16BE(0) === id && ((message[2] as number) & 0x80) !== 0;
}

/**
 * Reads an answer to the question; null when it answers another question. Throws a `RangeError` when the message is
 * malformed: lengths that do not fit, names that end nowhere, more or less than what was announced.
 */
export function readAnswer(message: Buffer, name: string, type: RecordTypeName): DnsMessage | null {
  const flags = message.readUInt16BE(2);
  const code = flags & 0x000f;
  const questions = message.readUInt16BE(4);
  // Some servers refuse without repeating the question.
  if (questions === 0 && code !== 0) return { code, truncated: false, answers: [], additional: [] };
  if (questions !== 1 || (flags & 0x7800) !== 0) return null;
  const names: KnownNames = new Map();
  const asked = readName(message, headerBytes, names);
  if (asked.name !== bareName(name) || message.readUInt16BE(asked.end) !== recordTypes[type]) return null;
  if (message.readUInt16BE(asked.end + 2) !== classInternet) return null;
  if ((flags & 0x0200) !== 0) return { code, truncated: true, answers: [], additional: [] };
  const reader: Reader = { message, names, at: asked.end + 4 };
  const answers = readRecords(reader, message.readUInt16BE(6));
  readRecords(reader, message.readUInt16BE(8));
  const additional = readRecords(reader, message.readUInt16BE(10));
  return { code, truncated: false, answers, additional };
}

/** The form in which names are compared: lower case, without the final dot. */
export function bareName(name: string): string {
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}

interface Reader {
  readonly message: Buffer;
  readonly names: KnownNames;
  at: number;
}

function readRecords(reader: Reader, count: number): readonly DnsRecord[] {
  const records: DnsRecord[] = [];
  for (let index = 0; index < count; index++) {
    const record = readRecord(reader);
    if (record !== null) records.push(record);
  }
  return records;
}

/** Null for a record of another type or class. */
function readRecord(reader: Reader): DnsRecord | null {
  const { message, names } = reader;
  const { name, end } = readName(message, reader.at, names);
  const type = recordTypeName(message.readUInt16BE(end));
  const recordClass = message.readUInt16BE(end + 2);
  const seconds = message.readUInt32BE(end + 4);
  const start = end + 10;
  const next = start + message.readUInt16BE(end + 8);
  if (next > message.length) throw new RangeError('a record is cut short');
  reader.at = next;
  if (type === null || recordClass !== classInternet) return null;
  // RFC 2181 8: a TTL with the topmost bit set counts as 0.
  const ttl = seconds > 0x7fffffff ? 0 : seconds;
  switch (type) {
    case 'A':
    case 'AAAA':
      return { type, name, ttl, ip: readAddress(message.subarray(start, next), type) };
    case 'CNAME':
      return { type, name, ttl, target: readTarget(reader, start, next) };
    case 'SRV':
      return {
        type,
        name,
        ttl,
        priority: message.readUInt16BE(start),
        weight: message.readUInt16BE(start + 2),
        port: message.readUInt16BE(start + 4),
        target: readTarget(reader, start + 6, next),
      };
  }
}

function readAddress(bytes: Buffer, type: 'A' | 'AAAA'): string {
  if (bytes.length !== (type === 'A' ? 4 : 16)) throw new RangeError('an address of the wrong length');
  return type === 'A' ? bytes.join('.') : ipaddr.fromByteArray([...bytes]).toString();
}

function readTarget({ message, names }: Reader, start: number, next: number): string {
  const { name, end } = readName(message, start, names);
  if (end !== next) throw new RangeError('a name does not fill its record');
  return name;
}
