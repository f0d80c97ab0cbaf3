import { isUtf8 } from 'node:buffer';
import type { StoredEntry } from './answer-store.ts';
import { decode } from './stored-answer.ts';

/** A kept answer as the Admin API shows it, with Kong's names; null for what is no answer. */
export function shownEntry(entry: StoredEntry, now: number): Readonly<Record<string, unknown>> | null {
  const value = decode(entry.head);
  if (value === null) return null;
  const ttl = Math.max(0, Math.ceil((entry.expires - now) / 1000));
  // An address with several answers: each of them has a key of its own.
  if (value.kind === 'index') return { url: entry.url, vary: value.names, ttl };
  const text = isUtf8(entry.body);
  const body = Buffer.from(entry.body).toString(text ? 'utf8' : 'base64');
  return {
    status: value.status,
    headers: headersOf(value.block),
    body,
    ...(text ? {} : { body_encoding: 'base64' }),
    body_len: entry.body.byteLength,
    timestamp: value.storedAt / 1000,
    ttl,
    fresh_for: Math.max(0, value.freshFor - value.age - (now - value.storedAt) / 1000),
    tags: entry.tags,
    url: entry.url,
    version: 1,
  };
}

function headersOf(block: string): Readonly<Record<string, string | readonly string[]>> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (const line of block.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon < 0) continue;
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()];
    const known = headers[name];
    if (known === undefined) headers[name] = value;
    else if (typeof known === 'string') headers[name] = [known, value];
    else known.push(value);
  }
  return headers;
}
