import type { EntityDefinition, Row } from '../../shared/entities/entity.ts';
import { presentRow } from '../../shared/entities/rows.ts';

/** A token as answers show it, without its hash. `expires_at`: seconds since the epoch; null: never. `now`: the start of `ttl`. */
export function presentToken(
  definition: EntityDefinition,
  row: Row,
  now: number = Date.now(),
): Readonly<Record<string, unknown>> {
  const { token_hash: _, ...shown } = presentRow(definition, row, {}, now);
  const expiresAt = row['expires_at'];
  return { ...shown, expires_at: typeof expiresAt === 'number' ? Math.floor(expiresAt / 1000) : null };
}
