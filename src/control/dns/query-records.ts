import { encodeName } from './client/domain-name.ts';
import { bareName, type DnsMessage } from './client/message.ts';
import { type Finding, findRecords, maxAliases } from './client/read-records.ts';
import type { RecordTypeName } from './client/record-types.ts';
import type { QueryOptions, Servers } from './client/servers.ts';
import { DnsError } from './types.ts';

/** Records, and the answer that they came with. */
export interface Found {
  readonly message: DnsMessage;
  readonly found: Finding;
}

/** The records of a type at the end of all aliases; at least one. Rejects with a `DnsError` when there are none. */
export async function queryRecords(
  servers: Servers,
  name: string,
  type: RecordTypeName,
  options: QueryOptions,
): Promise<Found> {
  let current = name;
  let ttl = Number.POSITIVE_INFINITY;
  // Most servers follow aliases themselves; for the others we do.
  for (let queries = 0; queries <= maxAliases; queries++) {
    if (encodeName(current) === null) throw invalidName();
    const message = await servers.query(current, type, options);
    const found = findRecords(message, current, type);
    ttl = Math.min(ttl, found.ttl);
    if (found.records.length > 0) return { message, found: { ...found, ttl } };
    if (message.code !== 0) throw new DnsError('not-found', 'dns server error: 3 name error');
    if (found.name === bareName(current)) throw emptyAnswer();
    current = found.name;
  }
  throw tooManyAliases();
}

export function invalidName(): DnsError {
  return new DnsError('not-found', 'dns client error: invalid name');
}

/** The name exists, and has no record of the type. */
export function emptyAnswer(): DnsError {
  return new DnsError('not-found', 'dns client error: 101 empty record received');
}

export function tooManyAliases(): DnsError {
  return new DnsError('failed', 'dns client error: too many aliases');
}
