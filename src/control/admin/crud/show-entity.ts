import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { presentRow } from '../../../shared/entities/rows.ts';
import type { StoreReader } from '../../store/store.ts';
import type { AdminContext } from './admin-context.ts';

export type Shown = Readonly<Record<string, unknown>>;

/** Rows as answers show them, virtual fields included. `now`: the time that the remaining `ttl` is computed for. */
export async function showEntities(
  context: AdminContext,
  reader: StoreReader,
  definition: EntityDefinition,
  rows: readonly Row[],
  now: number = Date.now(),
): Promise<readonly Shown[]> {
  const { virtuals } = context.extras(definition.name);
  if (virtuals === undefined || rows.length === 0) return rows.map((row) => presentRow(definition, row, {}, now));
  const values = await virtuals(reader, rows);
  return rows.map((row, index) => presentRow(definition, row, values[index], now));
}

export async function showEntity(
  context: AdminContext,
  reader: StoreReader,
  definition: EntityDefinition,
  row: Row,
  now: number = Date.now(),
): Promise<Shown> {
  const [shown] = await showEntities(context, reader, definition, [row], now);
  return shown!;
}
