import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { presentRow, schemaOf } from '../../../shared/entities/rows.ts';
import type { StoreReader } from '../../store/store.ts';
import { owns } from '../access/change-rules.ts';
import { currentCaller } from '../access/current-caller.ts';
import { redactFields } from '../audit/redact.ts';
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
  if (virtuals === undefined || rows.length === 0)
    return rows.map((row) => visible(definition, row, presentRow(definition, row, {}, now)));
  const values = await virtuals(reader, rows);
  return rows.map((row, index) => visible(definition, row, presentRow(definition, row, values[index], now)));
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

/** Secrets are for those who may write the row. */
function visible(definition: EntityDefinition, row: Row, shown: Shown): Shown {
  const caller = currentCaller();
  if (caller !== null && owns(caller, row)) return shown;
  return redactFields(schemaOf(definition, row), shown);
}
