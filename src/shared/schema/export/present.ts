import type { Field } from '../field-meta.ts';
import type { RecordSchema } from '../fields.ts';
import { valueAt } from '../shorthands.ts';
import { isRecordSchema } from './export.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A stored record as the Admin API returns it, at every level: with the deprecated names and the values of the fields
 * that replace them, as in Kong; records that are values of a map are returned without unset fields, because clients do
 * not fill those in before they compare.
 */
export function presentRecord(schema: RecordSchema, value: unknown): unknown {
  if (!differs(schema) || !isFields(value)) return value;
  const output: Record<string, unknown> = { ...value };
  for (const [name, field] of schema.fields) output[name] = presentField(field, output[name]);
  for (const [name, { replacedWith }] of schema.shorthands) {
    if (replacedWith !== undefined) output[name] = valueAt(value, replacedWith) ?? null;
  }
  return output;
}

function presentField(field: Field, value: unknown): unknown {
  if (isRecordSchema(field)) return presentRecord(field, value);
  if (!isMapOfRecords(field) || !isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, omitNulls(inner)]));
}

function omitNulls(value: unknown): unknown {
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null));
}

const known = new WeakMap<RecordSchema, boolean>();

/** Whether any record of the schema is returned in a different form than it is stored. */
function differs(schema: RecordSchema): boolean {
  let answer = known.get(schema);
  if (answer === undefined) {
    const hasAlias = [...schema.shorthands.values()].some(({ replacedWith }) => replacedWith !== undefined);
    answer =
      hasAlias || [...schema.fields.values()].some((field) => isMapOfRecords(field) || isRecordThatDiffers(field));
    known.set(schema, answer);
  }
  return answer;
}

function isRecordThatDiffers(field: Field): boolean {
  return isRecordSchema(field) && differs(field);
}

function isMapOfRecords({ meta }: Field): boolean {
  return meta.values !== undefined && isRecordSchema(meta.values);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
