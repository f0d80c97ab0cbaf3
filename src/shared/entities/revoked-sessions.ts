import { randomUUID } from 'node:crypto';
import { autoId, createdAt, ttl } from '../schema/common-fields.ts';
import { string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';
import type { RowWriter } from './entity.ts';

/**
 * Browser sessions that ended before they expired: by a logout, or because an administrator deleted them. A copy of the
 * cookie is rejected until it would have expired. Rows are read by bucket, so a worker caches the whole list in a few
 * answers.
 */
export const revokedSessions = defineEntity({
  name: 'revoked_sessions',
  inConfig: false,
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    session: string({ required: true, unique: true, description: 'Hash of the random identifier of the login.' }),
    bucket: string({ required: true, len_eq: 1, description: 'First character of the hash.' }),
    ttl: ttl(),
  }),
  lookups: ['bucket'],
});

/** Revokes a session, by the hash of its login, until `until`: seconds since the epoch. */
export async function revokeSession(writer: RowWriter, session: string, until: number): Promise<void> {
  const { now } = writer;
  const expiresAt = until * 1000;
  if (expiresAt <= now || (await writer.findBy(revokedSessions.name, 'session', session)) !== null) return;
  const row = { id: randomUUID(), created_at: now, session, bucket: session.charAt(0), expires_at: expiresAt };
  await writer.insert(revokedSessions.name, row);
}
