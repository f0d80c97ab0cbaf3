import type { EntityDefinition, Row } from '../../entities/entity.ts';
import { presentRow } from '../../entities/rows.ts';
import type { StoreReader } from '../../store/store.ts';
import type { AdminContext } from './admin-context.ts';

export type Shown = Readonly<Record<string, unknown>>;

/** Rows as the wire shows them, virtual fields included. */
export async function showEntities(
  context: AdminContext,
  reader: StoreReader,
  definition: EntityDefinition,
  rows: readonly Row[],
): Promise<readonly Shown[]> {
  const { virtuals } = context.extras(definition.name);
  if (virtuals === undefined || rows.length === 0) return rows.map((row) => presentRow(definition, row));
  const values = await virtuals(reader, rows);
  return rows.map((row, index) => presentRow(definition, row, values[index]));
}

export async function showEntity(
  context: AdminContext,
  reader: StoreReader,
  definition: EntityDefinition,
  row: Row,
): Promise<Shown> {
  const [shown] = await showEntities(context, reader, definition, [row]);
  return shown!;
}
