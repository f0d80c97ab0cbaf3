import type { Field, FieldMeta } from '../field-meta.ts';
import type { RecordSchema } from '../fields.ts';
import { isRecordSchema, type Json } from './export.ts';

type JsonObject = { readonly [name: string]: Json };

/** Names of the unique fields of an entity by which it can be referenced. */
export type UniqueFields = (entity: string) => readonly string[];

/** The schema as JSON Schema 2020-12, for OpenAPI 3.1. Rules over several fields are not expressed. */
export function exportJsonSchema(schema: RecordSchema, uniqueOf: UniqueFields = () => []): JsonObject {
  const fields = [...schema.fields];
  const mandatory = fields
    .filter(
      ([, { meta }]) => meta.required && meta.default === undefined && meta.auto !== true && meta.type !== 'record',
    )
    .map(([name]) => name);
  const properties: Record<string, Json> = {};
  for (const [name, field] of fields) properties[name] = jsonSchemaOf(field, uniqueOf);
  for (const [name, { field }] of schema.shorthands) {
    properties[name] = { ...jsonSchemaOf(field, uniqueOf), writeOnly: true };
  }
  return {
    type: 'object',
    ...(schema.meta.description !== undefined && { description: schema.meta.description }),
    properties,
    ...(mandatory.length > 0 && { required: mandatory }),
    additionalProperties: false,
  };
}

function jsonSchemaOf(field: Field, uniqueOf: UniqueFields): JsonObject {
  const { meta } = field;
  const shape = { ...shapeOf(field, uniqueOf), ...constraintsOf(field) };
  // A generated secret is null where only its hash is stored.
  const nullable = !meta.required && (meta.auto !== true || meta.encrypted === true);
  return {
    ...shape,
    ...(nullable && typeof shape['type'] === 'string' && { type: [shape['type'], 'null'] }),
    ...(nullable && Array.isArray(shape['enum']) && { enum: [...shape['enum'], null] }),
    ...(meta.description !== undefined && { description: describe(field) }),
    ...(meta.default !== undefined && { default: meta.default as Json }),
    ...(isReadOnly(meta) && { readOnly: true }),
    ...(meta.deprecation !== undefined && { deprecated: true }),
  };
}

function isReadOnly(meta: FieldMeta): boolean {
  return meta.computed === true || (meta.auto === true && meta.timestamp === true);
}

function shapeOf(field: Field, uniqueOf: UniqueFields): JsonObject {
  const { type, elements, keys, values, reference } = field.meta;
  switch (type) {
    case 'record':
      return isRecordSchema(field) ? exportJsonSchema(field, uniqueOf) : {};
    case 'foreign':
      return referenceSchema(uniqueOf(reference ?? ''));
    case 'map':
      return {
        type: 'object',
        additionalProperties: values === undefined ? true : elementSchema(values, uniqueOf),
        ...(keys !== undefined && { propertyNames: elementSchema(keys, uniqueOf) }),
      };
    case 'array':
    case 'set':
      return {
        type: 'array',
        ...(elements !== undefined && { items: elementSchema(elements, uniqueOf) }),
        ...(type === 'set' && { uniqueItems: true }),
      };
    default:
      return { type };
  }
}

/** By its id, or by another unique field such as its name. */
function referenceSchema(unique: readonly string[]): JsonObject {
  const names = unique.map((name) => [name, { type: 'string', minLength: 1 }] as const);
  return {
    type: 'object',
    properties: { id: { type: 'string', format: 'uuid' }, ...Object.fromEntries(names) },
    anyOf: ['id', ...unique].map((name) => ({ required: [name] })),
  };
}

/** Elements are never null. */
function elementSchema(field: Field, uniqueOf: UniqueFields): JsonObject {
  return jsonSchemaOf({ ...field, meta: { ...field.meta, required: true } }, uniqueOf);
}

function constraintsOf({ meta }: Field): JsonObject {
  const isList = meta.type === 'array' || meta.type === 'set';
  const minimum = isList ? 'minItems' : 'minLength';
  const maximum = isList ? 'maxItems' : 'maxLength';
  return {
    ...(meta.type === 'string' && meta.one_of === undefined && { minLength: 1 }),
    ...(meta.one_of !== undefined && { enum: meta.one_of }),
    ...(meta.not_one_of !== undefined && { not: { enum: meta.not_one_of } }),
    ...(meta.eq !== undefined && { const: meta.eq as Json }),
    ...(meta.starts_with !== undefined && { pattern: `^${meta.starts_with.replace(/[^A-Za-z0-9_/]/g, '\\$&')}` }),
    ...(meta.timestamp === true && { exclusiveMinimum: 0 }),
    ...(meta.len_eq !== undefined && { [minimum]: meta.len_eq, [maximum]: meta.len_eq }),
    ...(meta.between !== undefined && { minimum: meta.between[0], maximum: meta.between[1] }),
    ...(meta.gt !== undefined && { exclusiveMinimum: meta.gt }),
    ...(meta.uuid === true && { format: 'uuid' }),
    ...(meta.pattern !== undefined && { pattern: meta.pattern }),
    ...(meta.match !== undefined && { pattern: meta.match.source }),
    ...(meta.len_min !== undefined && { [minimum]: meta.len_min }),
    ...(meta.len_max !== undefined && { [maximum]: meta.len_max }),
  };
}

function describe({ meta }: Field): string {
  const unit = meta.unit === undefined ? '' : ` Unit: ${meta.unit}.`;
  return `${meta.description}${unit}`;
}
