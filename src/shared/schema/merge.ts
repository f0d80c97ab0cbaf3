import type { RecordSchema } from './fields.ts';
import { expandShorthands } from './shorthands.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Applies a PATCH to a stored record: records are merged field by field, everything else is replaced, null clears.
 * Shorthands of the patch are expanded first. The result is not validated yet.
 */
export function mergePatch(schema: RecordSchema, stored: Fields, patch: Fields): Record<string, unknown> {
  const { output } = expandShorthands(patch, schema.shorthands);
  const changes = Object.entries(output).map(([name, value]) => {
    const inner = schema.fields.get(name);
    const isDeep = inner !== undefined && isRecordSchema(inner) && isFields(value);
    return [name, isDeep ? mergePatch(inner, asFields(stored[name]), value) : value] as const;
  });
  // From entries, so that a field named `__proto__` is only a name.
  return Object.fromEntries([...Object.entries(stored), ...changes]);
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
