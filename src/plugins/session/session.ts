import { randomBytes } from 'node:crypto';
import type { ClientView } from '../../plugin-sdk/index.ts';

/** Who has logged in, and since when. Times are in seconds since the epoch. */
export interface Session {
  /** Random; new with each login and each renewal. */
  readonly id: string;
  readonly consumerId: string | null;
  readonly credentialId: string | null;
  /** Shown as the credential's identifier where it has no id. */
  readonly identifier: string | null;
  readonly groups: readonly string[] | null;
  readonly scopes: readonly string[] | null;
  readonly createdAt: number;
  /** When the id was made. */
  readonly renewedAt: number;
  /** When it was last written because it was used. */
  readonly usedAt: number;
  /** It was renewed, and is accepted for a moment only, for requests that were on their way. */
  readonly stale: boolean;
}

export function newSession(client: ClientView, now: number): Session {
  return {
    id: newId(),
    consumerId: client.consumer?.id ?? null,
    credentialId: client.credential?.id ?? null,
    identifier: client.credential?.identifier ?? null,
    groups: client.details?.groups ?? null,
    scopes: client.details?.scopes ?? null,
    createdAt: now,
    renewedAt: now,
    usedAt: now,
    stale: false,
  };
}

/** The same login under a new id. */
export function renewed(session: Session, now: number): Session {
  return { ...session, id: newId(), renewedAt: now, usedAt: now };
}

/** True when the client is the one that the session is of. Credentials without an id (of directories, tokens) have a name. */
export function isOf(session: Session, { consumer, credential }: ClientView): boolean {
  const id = credential?.id ?? null;
  if ((consumer?.id ?? null) !== session.consumerId || id !== session.credentialId) return false;
  return id !== null || (credential?.identifier ?? null) === session.identifier;
}

export function encodeSession(session: Session): string {
  const { id, consumerId, credentialId, identifier, groups, scopes, createdAt, renewedAt, usedAt, stale } = session;
  const who = [id, consumerId, credentialId, identifier === credentialId ? null : identifier, groups, scopes];
  return JSON.stringify([...who, createdAt, renewedAt, usedAt, stale ? 1 : 0]);
}

/** Null for what `encodeSession` did not make. The text was encrypted, so it comes of a gateway with the same secret. */
export function decodeSession(text: string): Session | null {
  const parts = parsed(text);
  if (!Array.isArray(parts) || parts.length !== 10) return null;
  const [id, consumerId, credentialId, identifier, groups, scopes, createdAt, renewedAt, usedAt, stale] = parts;
  const times = [createdAt, renewedAt, usedAt];
  if (typeof id !== 'string' || !times.every((time) => typeof time === 'number')) return null;
  if (![consumerId, credentialId, identifier].every(isTextOrNull) || ![groups, scopes].every(isListOrNull)) return null;
  const shown = identifier ?? credentialId;
  const session = { id, consumerId, credentialId, identifier: shown, groups, scopes, createdAt, renewedAt, usedAt };
  return { ...session, stale: stale === 1 };
}

/** 256 random bits. */
function newId(): string {
  return randomBytes(32).toString('base64url');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function isListOrNull(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
}
