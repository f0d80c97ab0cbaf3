import type { Row } from '../../../shared/entities/entity.ts';

type Fields = Readonly<Record<string, unknown>>;

/** SHA-1 of a password and the id of its consumer, as Kong shows passwords. */
const kongPassword = /^[0-9a-f]{40}$/;

/** In a document with `_transform: false`, secrets that are stored as hashes are hashes already; Kong's has no mark in Kong. */
export function withMarkedHashes(entity: string, input: Fields): Fields {
  const { password } = input;
  if (entity !== 'basicauth_credentials' || typeof password !== 'string' || !kongPassword.test(password)) return input;
  return { ...input, password: `$kong-sha1$${password}` };
}

/** The fields in which a hash was expected, and that would have been hashed: nothing would ever match a hash of a hash. */
export function notHashes(input: Fields, stored: Row): Readonly<Record<string, string>> | null {
  let found: Record<string, string> | null = null;
  for (const [field, value] of Object.entries(input)) {
    const kept = stored[field];
    if (typeof value !== 'string' || typeof kept !== 'string' || kept === value || !kept.startsWith('$')) continue;
    found ??= {};
    found[field] = "expected a hash of a known kind, because of '_transform: false'";
  }
  return found;
}
