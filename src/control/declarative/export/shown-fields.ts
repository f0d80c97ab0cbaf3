import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { toSeconds } from '../../../shared/entities/rows.ts';

/** `ttl` of a row that expires; null: it does not. */
export function secondsLeft(row: Row, now: number): number | null {
  const expiresAt = row['expires_at'];
  // 0 would mean never.
  return typeof expiresAt === 'number' ? Math.max(1, Math.floor((expiresAt - now) / 1000)) : null;
}

export interface ShownField {
  readonly name: string;
  readonly value: unknown;
}

/** The fields of a row as a document has them, in the order of the schema; references are not changed. */
export function shownFields(definition: EntityDefinition, row: Row, now: number): readonly ShownField[] {
  const fields: ShownField[] = [];
  for (const [name, { meta }] of definition.schema.fields) {
    if (meta.virtual === true) continue;
    if (name === 'ttl' && definition.expires) fields.push({ name, value: secondsLeft(row, now) });
    else if (meta.timestamp === true) fields.push({ name, value: toSeconds(definition, row[name]) });
    else fields.push({ name, value: row[name] ?? null });
  }
  return fields;
}
