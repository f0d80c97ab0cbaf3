import { hash, randomUUID } from 'node:crypto';
import { EntityAccessError, type EntityRow, foreignIdOf, type PluginTools } from '../../plugin-sdk/index.ts';
import { type Client, canBeStored, randomToken } from './rows.ts';

type Entities = PluginTools['entities'];

/*
 * A token family (a row of `oauth2_families`) is one authorization: its code and all tokens issued for it, which refer to it
 * by a foreign key. Deleting the row revokes all of them in one transaction, and no worker or node can add to it
 * afterwards. Codes and refresh tokens end with the id of their family: a used one is no longer stored, but still identifies
 * the family to revoke (RFC 6749 4.1.2, RFC 9700 4.14.2). The id is as secret as the tokens.
 */

const entity = 'oauth2_families';
const randomLength = 32;
const idLength = 22;
/** Seconds that a family is stored longer than its code and tokens, so that none of them outlives it. */
const margin = 60;
const uuidParts = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

export interface TokenFamilyOwner {
  readonly client: Client;
  /** Null: every service with `global_credentials`. */
  readonly serviceId: string | null;
}

/** `lifetime`: seconds; 0: until it is revoked. */
export async function startTokenFamily(
  entities: Entities,
  { client, serviceId }: TokenFamilyOwner,
  lifetime: number,
  id: string = randomUUID(),
): Promise<string> {
  await entities.insert(entity, {
    id,
    credential: { id: client.row.id },
    service: serviceId === null ? null : { id: serviceId },
    ttl: withMargin(lifetime),
  });
  return id;
}

/** The family of a refresh token that an earlier version issued; its id is derived from the token. */
export async function adoptTokenFamily(
  entities: Entities,
  owner: TokenFamilyOwner,
  lifetime: number,
  token: string,
): Promise<string> {
  const id = derivedId(token);
  try {
    return await startTokenFamily(entities, owner, lifetime, id);
  } catch (error) {
    // Another request used the same token first: only one of them can redeem it.
    if (error instanceof EntityAccessError && error.kind === 'conflict') return id;
    throw error;
  }
}

/** `lifetime`: seconds from now. False: the family was revoked or has expired. */
export async function extendTokenFamily(entities: Entities, id: string, lifetime: number): Promise<boolean> {
  return (await entities.update(entity, id, { ttl: withMargin(lifetime) })) !== null;
}

/**
 * Revokes the family that a used code or refresh token belonged to. Does nothing for other texts, or for a client or
 * service that it was not issued to, so that they cannot revoke tokens of others.
 */
export async function revokeTokenFamilyOf(entities: Entities, used: string, owner: TokenFamilyOwner): Promise<void> {
  if (!canBeStored(used)) return;
  const row = await entities.find(entity, 'id', familyIdOf(used) ?? derivedId(used));
  if (row !== null && isOwnedBy(row, owner)) await revokeTokenFamily(entities, row.id);
}

export async function revokeTokenFamily(entities: Entities, id: string): Promise<void> {
  await entities.delete(entity, id);
}

/** A code or refresh token of a family. */
export function tokenOfFamily(id: string): string {
  return randomToken() + Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

/** The id at the end of the text; null: an earlier version or another party issued it. */
function familyIdOf(text: string): string | null {
  if (text.length !== randomLength + idLength) return null;
  const bytes = Buffer.from(text.slice(randomLength), 'base64url');
  return bytes.byteLength === 16 ? uuidOf(bytes) : null;
}

/** A UUID of version 8 (RFC 9562 5.8). */
function derivedId(token: string): string {
  const bytes = hash('sha256', token, 'buffer').subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return uuidOf(bytes);
}

function uuidOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex').replace(uuidParts, '$1-$2-$3-$4-$5');
}

function isOwnedBy(row: EntityRow, { client, serviceId }: TokenFamilyOwner): boolean {
  return foreignIdOf(row, 'credential') === client.row.id && foreignIdOf(row, 'service') === serviceId;
}

function withMargin(lifetime: number): number {
  return lifetime === 0 ? 0 : lifetime + margin;
}
