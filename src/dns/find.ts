import { encodeName } from './domain-name.ts';
import { bareName, type DnsMessage } from './message.ts';
import { type Finding, findRecords, mostAliases } from './read-records.ts';
import type { RecordTypeName } from './record-types.ts';
import type { AskOptions, Servers } from './servers.ts';
import { DnsError } from './types.ts';

/** Records, and the answer that they came with. */
export interface Found {
  readonly message: DnsMessage;
  readonly found: Finding;
}

/** The records of a type at the end of all aliases; at least one. Rejects with a `DnsError` when there are none. */
export async function find(servers: Servers, name: string, type: RecordTypeName, options: AskOptions): Promise<Found> {
  let asked = name;
  let ttl = Number.POSITIVE_INFINITY;
  // Most servers follow aliases themselves; the others leave that to us.
  for (let questions = 0; questions <= mostAliases; questions++) {
    if (encodeName(asked) === null) throw invalidName();
    const message = await servers.ask(asked, type, options);
    const found = findRecords(message, asked, type);
    ttl = Math.min(ttl, found.ttl);
    if (found.records.length > 0) return { message, found: { ...found, ttl } };
    if (message.code !== 0) throw new DnsError('not-found', 'dns server error: 3 name error');
    if (found.name === bareName(asked)) throw emptyAnswer();
    asked = found.name;
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
