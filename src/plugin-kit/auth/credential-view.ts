import { hash } from 'node:crypto';
import type { EntityRow } from '../../plugin-sdk/entity-access.ts';
import type { CredentialView } from '../../plugin-sdk/request-views.ts';

const views = new WeakMap<EntityRow, CredentialView>();
const versions = new WeakMap<EntityRow, string>();

/** Fields that do not identify a credential: a change of them keeps its version. */
const incidental: ReadonlySet<string> = new Set(['created_at', 'updated_at', 'expires_at', 'tags']);

/** The credential of a row of `entity`, for `context.authenticate`; the same object for the same row. */
export function credentialView(entity: string, row: EntityRow, identifier: string | null): CredentialView {
  let view = views.get(row);
  if (view === undefined) {
    const source = Object.freeze({ entity, version: credentialVersion(row) });
    view = Object.freeze({ id: row.id, identifier, source });
    views.set(row, view);
  }
  return view;
}

/** Digest of the row's identifying fields: it changes with the secret, the name and the consumer. */
export function credentialVersion(row: EntityRow): string {
  let version = versions.get(row);
  if (version === undefined) {
    const fields = Object.entries(row).filter(([name, value]) => value !== null && !incidental.has(name));
    fields.sort(([one], [other]) => (one < other ? -1 : 1));
    version = hash('sha256', JSON.stringify(fields), 'base64url').slice(0, 22);
    versions.set(row, version);
  }
  return version;
}
