import { hash } from 'node:crypto';
import type { EntityRow } from './entity-access.ts';
import type { CredentialView } from './request-views.ts';

const views = new WeakMap<EntityRow, CredentialView>();
const versions = new WeakMap<EntityRow, string>();

/** Fields that change without making it another credential. */
const incidental: ReadonlySet<string> = new Set(['created_at', 'updated_at', 'expires_at', 'tags']);

/** The credential that a row of `entity` is. `identifier` follows from the row. The same view for the same row. */
export function credentialView(entity: string, row: EntityRow, identifier: string | null): CredentialView {
  let view = views.get(row);
  if (view === undefined) {
    const source = Object.freeze({ entity, version: credentialVersion(row) });
    view = Object.freeze({ id: row.id, identifier, source });
    views.set(row, view);
  }
  return view;
}

/** Digest of all that makes the row this credential: another one once its secret, its name or its consumer changes. */
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
