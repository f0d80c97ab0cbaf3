import { isJsonObject, type JsonObject, type JsonValue, setMember } from '../../plugin-kit/json/index.ts';
import { pointerStep, SchemaError } from '../../plugin-kit/json-schema/index.ts';

/*
 * Kong's own format: a list of fields, `[{"name": {"type": "string", "required": true}}]`, as JSON Schema. A field that is not required
 * may be missing or null; others than those that are named are refused.
 */

const maxLevels = 30;

/** Throws a `SchemaError` for anything without an equivalent. */
export function fromKongSchema(fields: JsonValue): JsonObject {
  return recordOf(fields, '', 0);
}

function recordOf(fields: JsonValue, pointer: string, level: number): JsonObject {
  if (!Array.isArray(fields)) throw new SchemaError(pointer, 'must be a list of fields');
  if (level > maxLevels) throw new SchemaError(pointer, `nested deeper than ${maxLevels} levels`);
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [at, entry] of fields.entries()) {
    const [pair, ...more] = isJsonObject(entry) ? Object.entries(entry) : [];
    if (pair === undefined || more.length > 0)
      throw new SchemaError(`${pointer}/${at}`, 'must be an object of one field');
    const [name, field] = pair;
    const place = `${pointer}/${at}${pointerStep(name)}`;
    if (!isJsonObject(field)) throw new SchemaError(place, 'must be an object');
    if (Object.hasOwn(properties, name)) throw new SchemaError(place, 'there are two fields of this name');
    setMember(properties, name, fieldOf(field, place, level));
    if (field['required'] === true) required.push(name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

function fieldOf(field: JsonObject, pointer: string, level: number): JsonObject {
  const schema = schemaOf(field, pointer, level);
  return field['required'] === true ? schema : { anyOf: [{ type: 'null' }, schema] };
}

const jsonTypes: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  array: 'array',
  set: 'array',
  map: 'object',
  record: 'object',
};

function schemaOf(field: JsonObject, pointer: string, level: number): JsonObject {
  const { type } = field;
  const jsonType = typeof type === 'string' && Object.hasOwn(jsonTypes, type) ? jsonTypes[type] : undefined;
  if (jsonType === undefined) {
    throw new SchemaError(`${pointer}/type`, `must be one of ${Object.keys(jsonTypes).join(', ')}`);
  }
  const inner = (name: string): JsonObject => {
    const value = field[name];
    if (!isJsonObject(value)) throw new SchemaError(`${pointer}/${name}`, 'must be an object');
    return schemaOf(value, `${pointer}/${name}`, level + 1);
  };
  if (level > maxLevels) throw new SchemaError(pointer, `nested deeper than ${maxLevels} levels`);
  const parts: JsonObject[] = [{ type: jsonType }];
  // Kong refuses empty strings unless `len_min` is 0.
  if (type === 'string' && field['len_min'] === undefined) parts.push({ minLength: 1 });
  for (const [name, value] of Object.entries(field)) {
    const place = pointer + pointerStep(name);
    if (about.has(name)) continue;
    if (name === 'elements') parts.push({ items: inner(name) });
    else if (name === 'keys') parts.push({ propertyNames: inner(name) });
    else if (name === 'values') parts.push({ additionalProperties: inner(name) });
    else if (name === 'fields') parts.push(recordOf(value, place, level + 1));
    else parts.push(attributeOf(name, value, jsonType, place));
  }
  return parts.length === 1 ? (parts[0] as JsonObject) : { allOf: parts };
}

/** Attributes that do not constrain values, or are already processed. */
const about = new Set(['type', 'required', 'description', 'default', 'err']);

function attributeOf(name: string, value: JsonValue, type: string, pointer: string): JsonObject {
  const [least, most] = lengths[type] ?? [];
  if (least !== undefined && most !== undefined) {
    if (name === 'len_min') return { [least]: whole(value, pointer) };
    if (name === 'len_max') return { [most]: whole(value, pointer) };
    if (name === 'len_eq') return { [least]: whole(value, pointer), [most]: whole(value, pointer) };
  }
  if (name === 'between') {
    if (Array.isArray(value) && value.length === 2) {
      return { minimum: numeric(value[0] as JsonValue, pointer), maximum: numeric(value[1] as JsonValue, pointer) };
    }
    throw new SchemaError(pointer, 'must be two numbers');
  }
  if (name === 'gt') return { exclusiveMinimum: numeric(value, pointer) };
  if (name === 'eq') return { const: value };
  if (name === 'ne') return { not: { const: value } };
  if (name === 'one_of') return { enum: value };
  if (name === 'not_one_of') return { not: { enum: value } };
  if (name === 'contains') return { contains: { const: value } };
  if (name === 'starts_with' && typeof value === 'string') return { pattern: `^${escaped(value)}` };
  if (name === 'uuid') return value === true ? { format: 'uuid' } : {};
  if (name === 'timestamp') return value === true ? { exclusiveMinimum: 0 } : {};
  if (name.includes('match'))
    throw new SchemaError(pointer, 'Lua patterns are not known: take a JSON Schema with pattern');
  throw new SchemaError(pointer, 'there is no such attribute');
}

const lengths: Readonly<Record<string, readonly [string, string]>> = {
  string: ['minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
};

function whole(value: JsonValue, pointer: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw new SchemaError(pointer, 'must be a whole number');
  return value;
}

function numeric(value: JsonValue, pointer: string): number {
  if (typeof value !== 'number') throw new SchemaError(pointer, 'must be a number');
  return value;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
