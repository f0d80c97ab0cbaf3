import { randomBytes } from 'node:crypto';
import type { ClientView, CredentialSource } from '../../plugin-sdk/index.ts';

/** A login. Times are in seconds since the epoch. */
export interface Session {
  /** Random; new with each login and each renewal. */
  readonly id: string;
  /** Random; the same through all renewals, so that a logout ends every copy. */
  readonly login: string;
  readonly consumerId: string | null;
  readonly credentialId: string | null;
  /** The entity of the credential and its version at the login; null: it is not in the store. */
  readonly source: CredentialSource | null;
  /** The identifier of a credential without an id. */
  readonly identifier: string | null;
  readonly groups: readonly string[] | null;
  readonly scopes: readonly string[] | null;
  readonly createdAt: number;
  /** When the id was created. */
  readonly renewedAt: number;
  /** When its last use was stored. */
  readonly usedAt: number;
  /** It was renewed, and is accepted until then for requests in flight; null: it is the current one. */
  readonly staleAt: number | null;
}

/** `login`: of the session that this one continues. */
export function newSession(client: ClientView, now: number, login = newId()): Session {
  return {
    id: newId(),
    login,
    consumerId: client.consumer?.id ?? null,
    credentialId: client.credential?.id ?? null,
    source: client.credential?.source ?? null,
    identifier: client.credential?.identifier ?? null,
    groups: client.details?.groups ?? null,
    scopes: client.details?.scopes ?? null,
    createdAt: now,
    renewedAt: now,
    usedAt: now,
    staleAt: null,
  };
}

/** The same login under a new id. */
export function renewed(session: Session, now: number): Session {
  return { ...session, id: newId(), renewedAt: now, usedAt: now };
}

/** True if the session belongs to the client. Credentials without an id (of directories, tokens) have an identifier. */
export function isOf(session: Session, { consumer, credential }: ClientView): boolean {
  const id = credential?.id ?? null;
  if ((consumer?.id ?? null) !== session.consumerId || id !== session.credentialId) return false;
  return id !== null || (credential?.identifier ?? null) === session.identifier;
}

export function encodeSession(session: Session): string {
  const { id, login, consumerId, credentialId, source, identifier, groups, scopes } = session;
  const { createdAt, renewedAt, usedAt, staleAt } = session;
  const credential = [credentialId, source?.entity ?? null, source?.version ?? null];
  const who = [id, login, consumerId, ...credential, identifier === credentialId ? null : identifier, groups, scopes];
  return JSON.stringify([...who, createdAt, renewedAt, usedAt, staleAt]);
}

/** Null unless `encodeSession` wrote it. The text was encrypted, so it comes from a gateway with the same secret. */
export function decodeSession(text: string): Session | null {
  const parts = parsed(text);
  if (!Array.isArray(parts) || parts.length !== 13) return null;
  const [id, login, consumerId, credentialId, entity, version, identifier, groups, scopes, ...rest] = parts;
  const [createdAt, renewedAt, usedAt, staleAt] = rest;
  const times = [createdAt, renewedAt, usedAt];
  if (typeof id !== 'string' || typeof login !== 'string') return null;
  if (!times.every((time) => typeof time === 'number')) return null;
  if (staleAt !== null && typeof staleAt !== 'number') return null;
  if (![consumerId, credentialId, entity, version, identifier].every(isTextOrNull)) return null;
  if (![groups, scopes].every(isListOrNull)) return null;
  const source = entity === null || version === null ? null : { entity, version };
  const who = { id, login, consumerId, credentialId, source, identifier: identifier ?? credentialId, groups, scopes };
  return { ...who, createdAt, renewedAt, usedAt, staleAt };
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
