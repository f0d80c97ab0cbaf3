import { bareName, type DnsMessage } from './message.ts';
import type { AddressRecord, DnsRecord, RecordTypeName, ServiceRecord } from './record-types.ts';

/** Maximum aliases of one name; more are a loop or an attack. */
export const maxAliases = 16;

/** The result of an answer for a name: records, another name to query, or nothing. */
export interface Finding<R extends DnsRecord = DnsRecord> {
  /** Records of the queried type, at the end of all aliases. */
  readonly records: readonly R[];
  /** The name at the end of the aliases; the queried one when there are none. */
  readonly name: string;
  /** Shortest TTL of the aliases and records, milliseconds. */
  readonly ttl: number;
}

/** Follows the aliases within the answer to the records of the type (RFC 1034 4.3.2). */
export function findRecords(message: DnsMessage, asked: string, type: RecordTypeName): Finding {
  let name = bareName(asked);
  let seconds = Number.POSITIVE_INFINITY;
  for (let aliases = 0; aliases <= maxAliases; aliases++) {
    const records = message.answers.filter((record) => record.type === type && record.name === name);
    if (records.length > 0) return { records, name, ttl: 1000 * shortest(records, seconds) };
    const alias = message.answers.find((record) => record.type === 'CNAME' && record.name === name);
    if (alias === undefined || alias.type !== 'CNAME') break;
    name = alias.target;
    seconds = Math.min(seconds, alias.ttl);
  }
  return { records: [], name, ttl: 1000 * seconds };
}

function shortest(records: readonly DnsRecord[], start: number): number {
  let seconds = start;
  for (const { ttl } of records) seconds = Math.min(seconds, ttl);
  return seconds;
}

export function isAddress(record: DnsRecord): record is AddressRecord {
  return record.type === 'A' || record.type === 'AAAA';
}

export function isService(record: DnsRecord): record is ServiceRecord {
  return record.type === 'SRV';
}

/** Addresses without duplicates. */
export function addressesOf(records: readonly DnsRecord[]): readonly string[] {
  return [...new Set(records.filter(isAddress).map(({ ip }) => ip))];
}
