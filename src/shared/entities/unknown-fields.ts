import { isDeepStrictEqual } from 'node:util';
import { isRecordSchema } from '../schema/export/export.ts';
import type { Field } from '../schema/field-meta.ts';
import type { RecordSchema } from '../schema/fields.ts';

/**
 * During a rolling upgrade a row may have fields that only the new version knows. The version before validates and writes such a row
 * without them, and stores it with them.
 */

type Fields = Readonly<Record<string, unknown>>;

/** The value without fields that the schema does not have; the same object if it has all. */
export function withoutUnknown(schema: RecordSchema, value: Fields): Fields {
  let output: Record<string, unknown> | null = null;
  for (const name of Object.keys(value)) {
    const inner = value[name];
    const field = schema.fields.get(name);
    const known = field === undefined ? undefined : knownPart(field, inner);
    if (field !== undefined && known === inner) continue;
    output ??= { ...value };
    if (field === undefined) delete output[name];
    else output[name] = known;
  }
  return output ?? value;
}

function knownPart(field: Field, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isRecordSchema(field)) return isFields(value) ? withoutUnknown(field, value) : value;
  const { elements, values } = field.meta;
  if (Array.isArray(value) && elements !== undefined) {
    const known = value.map((inner) => knownPart(elements, inner));
    return known.some((inner, i) => inner !== value[i]) ? known : value;
  }
  if (isFields(value) && values !== undefined) {
    const known = Object.entries(value).map(([key, inner]) => [key, knownPart(values, inner)] as const);
    return known.some(([key, inner]) => inner !== value[key]) ? Object.fromEntries(known) : value;
  }
  return value;
}

/** The new value with the unknown fields of the stored one. `known`: the part of it that the schema knows. */
export function withUnknown(schema: RecordSchema, stored: Fields, known: Fields, built: Fields): Fields {
  if (stored === known) return built;
  const output: Record<string, unknown> = { ...built };
  for (const [name, before] of Object.entries(stored)) {
    const field = schema.fields.get(name);
    if (field === undefined) output[name] ??= before;
    else if (before === known[name]) continue;
    else if (isRecordSchema(field) && isFields(before) && isFields(known[name]) && isFields(built[name])) {
      output[name] = withUnknown(field, before, known[name], built[name]);
    }
    // The elements of a list have no names: it is kept as it is, or replaced.
    else if (isDeepStrictEqual(built[name], known[name])) output[name] = before;
  }
  return output;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
