import type { EntityDefinition, Row } from '../../shared/entities/entity.ts';
import { buildRow } from '../../shared/entities/rows.ts';
import type { ErrorTree } from '../../shared/schema/validate.ts';
import type { StoreWriter } from '../store/store.ts';
import { generateToken, hashToken, shownPrefix } from './admin-token.ts';

/** What a person chooses of a token. */
export interface TokenInput {
  /** Default: made from the first characters of the token. */
  readonly name?: unknown;
  /** Seconds until it expires. Default: never. */
  readonly ttl?: unknown;
}

export interface IssuedToken {
  readonly row: Row;
  /** Shown once: only its hash is stored. */
  readonly token: string;
}

const maxTtl = 100_000_000;

/** A negative number would never expire. */
function isTtl(ttl: unknown): boolean {
  return ttl === undefined || ttl === null || (Number.isInteger(ttl) && Number(ttl) >= 0 && Number(ttl) <= maxTtl);
}

/** Creates a token of a user. What is wrong with the input is in `fields`. */
export async function issueToken(
  writer: StoreWriter,
  definition: EntityDefinition,
  user: string,
  { name, ttl }: TokenInput,
): Promise<IssuedToken | { readonly fields: ErrorTree }> {
  if (!isTtl(ttl)) return { fields: { ttl: `must be an integer between 0 and ${maxTtl}` } };
  const token = generateToken();
  const prefix = shownPrefix(token);
  const built = buildRow(
    definition,
    { name: name ?? prefix, ttl, user: { id: user }, token_hash: hashToken(token), token_prefix: prefix },
    { now: writer.now },
  );
  if (!built.ok) return { fields: built.error.fields };
  return { row: await writer.insert(definition.name, built.row), token };
}
