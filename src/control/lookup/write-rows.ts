import type { EntityDefinition, Row } from '../../shared/entities/entity.ts';
import { applyPatch, buildRow, type RowResult } from '../../shared/entities/rows.ts';
import type { ErrorTree } from '../../shared/schema/validate.ts';
import { violationMessage } from '../../shared/schema/violation-message.ts';
import type { StoreWriter } from '../store/store.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a row are not valid. */
export class InvalidFields extends Error {
  readonly fields: ErrorTree;

  constructor(fields: ErrorTree) {
    super(violationMessage(fields));
    this.fields = fields;
  }
}

/** Creates a row as the Admin API does. Throws `InvalidFields` or a `StoreError`. */
export async function insertRow(
  writer: StoreWriter,
  definition: EntityDefinition,
  fields: Fields,
  hashKeys: boolean,
): Promise<Row> {
  const row = valid(buildRow(definition, fields, { now: writer.now }));
  return writer.insert(definition.name, await concealed(definition, row, { hashKeys, given: fields, before: null }));
}

/** Changes some fields of a row as the Admin API does; null when there is no such row. */
export async function updateRow(
  writer: StoreWriter,
  definition: EntityDefinition,
  id: string,
  fields: Fields,
  hashKeys: boolean,
): Promise<Row | null> {
  const before = await writer.get(definition.name, id);
  if (before === null) return null;
  const row = valid(applyPatch(definition, before, fields, { now: writer.now }));
  return writer.update(definition.name, await concealed(definition, row, { hashKeys, given: fields, before }));
}

async function concealed(
  definition: EntityDefinition,
  row: Row,
  context: { readonly hashKeys: boolean; readonly given: Fields; readonly before: Row | null },
): Promise<Row> {
  return (await definition.conceal?.(row, context))?.stored ?? row;
}

function valid(result: RowResult): Row {
  if (!result.ok) throw new InvalidFields(result.error.fields);
  return result.row;
}
