import type { EntityCheck } from '../entity-checks.ts';
import type { Attributes, Field, FieldMeta } from '../field-meta.ts';
import type { RecordSchema, Shorthand } from '../fields.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** A schema as `/schemas/...` returns it. */
export interface ExportedSchema {
  readonly [attribute: string]: Json;
  readonly fields: readonly { readonly [field: string]: Json }[];
}

/** Attributes in the order of the output; code, and attributes that only the gateway has, are omitted. */
const ATTRIBUTES = [
  'type',
  'description',
  'required',
  'default',
  'auto',
  'uuid',
  'timestamp',
  'unique',
  'eq',
  'ne',
  'one_of',
  'not_one_of',
  'gt',
  'between',
  'is_regex',
  'len_eq',
  'len_min',
  'len_max',
  'starts_with',
  'match',
  'not_match',
  'match_none',
  'contains',
  'mutually_exclusive_subsets',
  'err',
  'reference',
  'on_delete',
  'referenceable',
  'encrypted',
  'deprecation',
] as const satisfies readonly (keyof FieldMeta)[];

/** Kong's JSON form of a schema: fields are an ordered list of objects with a single key, at every level. */
export function exportSchema(schema: RecordSchema): ExportedSchema {
  const shorthands = [...schema.shorthands].map(([name, shorthand]) => ({ [name]: exportShorthand(shorthand) }));
  return {
    ...(schema.checks.length > 0 && { entity_checks: schema.checks.map(exportCheck) }),
    fields: [...schema.fields]
      .filter(([, { meta }]) => meta.virtual !== true && meta.computed !== true)
      .map(([name, field]) => ({ [name]: exportField(field) })),
    ...(shorthands.length > 0 && { shorthand_fields: shorthands }),
  };
}

/** One field, with everything below it. */
export function exportField(field: Field): { readonly [attribute: string]: Json } {
  const { meta } = field;
  const output: Record<string, Json> = {};
  for (const name of ATTRIBUTES) {
    const value = meta[name];
    if (value === undefined || (name === 'required' && value === false)) continue;
    output[name] = toJson(name === 'default' ? wholeDefault(field) : value);
  }
  if (meta.elements !== undefined) output['elements'] = exportField(meta.elements);
  if (meta.keys !== undefined) output['keys'] = exportField(meta.keys);
  if (meta.values !== undefined) output['values'] = exportField(meta.values);
  return isRecordSchema(field) ? { ...output, ...exportSchema(field) } : output;
}

/** The default as an entity shows it, including unset fields of its elements, because clients compare the two. */
function wholeDefault(field: Field): unknown {
  const { meta } = field;
  if (meta.elements === undefined) return meta.default;
  const completed = field.value.safeParse(structuredClone(meta.default));
  return completed.success ? completed.data : meta.default;
}

export function isRecordSchema(field: Field): field is RecordSchema {
  return field.meta.type === 'record';
}

function exportShorthand({ field, replacedWith }: Shorthand): Json {
  const exported = exportField(field);
  if (replacedWith === undefined || exported['deprecation'] !== undefined) return exported;
  return { ...exported, deprecation: { replaced_with: [{ path: replacedWith }] } };
}

function exportCheck(check: EntityCheck): Json {
  return toJson(check);
}

function toJson(value: unknown): Json {
  if (value instanceof RegExp) return value.source;
  if (typeof value === 'number' && !Number.isFinite(value)) return nonFinite(value);
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value as Attributes)
        .filter(([, item]) => typeof item !== 'function' && item !== undefined)
        .map(([name, item]) => [name, toJson(item)]),
    );
  }
  return value as Json;
}

function nonFinite(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
}
