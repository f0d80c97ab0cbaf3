import { type FieldSchema, fieldsOf } from '../forms/schema.ts';
import { fromText, isObject } from '../forms/value.ts';

/** A value of an example as the form has it: `curl -d` sends texts only, and one text for a list of one. */
export function exampleValue(value: unknown, schema: FieldSchema): unknown {
  switch (schema.type) {
    case 'record': {
      if (!isObject(value)) return value;
      const fields = new Map(fieldsOf(schema).map((field) => [field.name, field.schema]));
      return mapped(value, (item, name) => exampleValue(item, fields.get(name) ?? { type: 'string' }));
    }
    case 'map':
      return isObject(value) ? mapped(value, (item) => exampleValue(item, schema.values ?? { type: 'string' })) : value;
    case 'array':
    case 'set': {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      return items.map((item) => exampleValue(item, schema.elements ?? { type: 'string' }));
    }
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value;
    default:
      return typeof value === 'string' ? fromText(value, schema) : value;
  }
}

function mapped(value: Readonly<Record<string, unknown>>, change: (item: unknown, name: string) => unknown): unknown {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(item, name)]));
}
