import type { RecordSchema } from './fields.ts';
import { expandShorthands } from './shorthands.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Lays a PATCH over a stored record: records are merged field by field, everything else is replaced, null clears.
 * Shorthands of the patch are expanded first. The result is not validated yet.
 */
export function mergePatch(schema: RecordSchema, stored: Fields, patch: Fields): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...stored };
  for (const [name, value] of Object.entries(expandShorthands(patch, schema.shorthands))) {
    const inner = schema.fields.get(name);
    merged[name] =
      inner !== undefined && isRecordSchema(inner) && isFields(value)
        ? mergePatch(inner, asFields(stored[name]), value)
        : value;
  }
  return merged;
}

function isRecordSchema(field: object): field is RecordSchema {
  return 'shorthands' in field;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}
