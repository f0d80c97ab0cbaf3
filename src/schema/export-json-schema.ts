import { isRecordSchema, type Json } from './export.ts';
import type { FieldMeta } from './field-meta.ts';
import type { Field, RecordSchema } from './fields.ts';

type JsonObject = { readonly [name: string]: Json };

/** The schema as JSON Schema 2020-12, for OpenAPI 3.1. Rules over several fields are not expressed. */
export function exportJsonSchema(schema: RecordSchema): JsonObject {
  const fields = [...schema.fields];
  const mandatory = fields
    .filter(
      ([, { meta }]) => meta.required && meta.default === undefined && meta.auto !== true && meta.type !== 'record',
    )
    .map(([name]) => name);
  const properties: Record<string, Json> = {};
  for (const [name, field] of fields) properties[name] = jsonSchemaOf(field);
  for (const [name, { field }] of schema.shorthands) {
    properties[name] = { ...jsonSchemaOf(field), writeOnly: true };
  }
  return {
    type: 'object',
    ...(schema.meta.description !== undefined && { description: schema.meta.description }),
    properties,
    ...(mandatory.length > 0 && { required: mandatory }),
    additionalProperties: false,
  };
}

function jsonSchemaOf(field: Field): JsonObject {
  const { meta } = field;
  const shape = { ...shapeOf(field), ...constraintsOf(field) };
  const nullable = !meta.required && meta.auto !== true;
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

function shapeOf(field: Field): JsonObject {
  const { type, elements, values } = field.meta;
  switch (type) {
    case 'record':
      return isRecordSchema(field) ? exportJsonSchema(field) : {};
    case 'foreign':
      return { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } };
    case 'map':
      return { type: 'object', additionalProperties: values === undefined ? true : elementSchema(values) };
    case 'array':
    case 'set':
      return {
        type: 'array',
        ...(elements !== undefined && { items: elementSchema(elements) }),
        ...(type === 'set' && { uniqueItems: true }),
      };
    default:
      return { type };
  }
}

/** Elements are never null. */
function elementSchema(field: Field): JsonObject {
  return jsonSchemaOf({ ...field, meta: { ...field.meta, required: true } });
}

function constraintsOf({ meta }: Field): JsonObject {
  const isList = meta.type === 'array' || meta.type === 'set';
  const minimum = isList ? 'minItems' : 'minLength';
  const maximum = isList ? 'maxItems' : 'maxLength';
  return {
    ...(meta.one_of !== undefined && { enum: meta.one_of }),
    ...(meta.between !== undefined && { minimum: meta.between[0], maximum: meta.between[1] }),
    ...(meta.gt !== undefined && { exclusiveMinimum: meta.gt }),
    ...(meta.uuid === true && { format: 'uuid' }),
    ...(meta.match !== undefined && { pattern: meta.match.source }),
    ...(meta.len_min !== undefined && { [minimum]: meta.len_min }),
    ...(meta.len_max !== undefined && { [maximum]: meta.len_max }),
  };
}

function describe({ meta }: Field): string {
  const unit = meta.unit === undefined ? '' : ` Unit: ${meta.unit}.`;
  return `${meta.description}${unit}`;
}
