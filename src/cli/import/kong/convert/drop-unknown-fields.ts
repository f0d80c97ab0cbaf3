import type { EntityDefinition } from '../../../../shared/entities/entity.ts';
import type { Field } from '../../../../shared/schema/field-meta.ts';
import type { RecordSchema } from '../../../../shared/schema/fields.ts';
import { type Fields, isFields, type KongEntity } from '../kong-entity.ts';

/** Fields of Kong without a meaning here, whatever their value. */
const internal: readonly string[] = ['ws_id', 'updated_at'];

/** The same, of Enterprise. */
const internalOf: Readonly<Record<string, readonly string[]>> = {
  consumers: ['username_lower', 'type'],
  plugins: ['consumer_group'],
};

export interface KnownFields {
  readonly fields: Fields;
  /** Paths of fields that the gateway does not know, with a value: `config.identity_realms`. */
  readonly unknown: readonly string[];
}

/**
 * The fields without those that the gateway does not know and that are not set: null, false, an empty list or map. They come from Enterprise
 * or another version. `drop` decides about those that are set; what it refuses stays, and is listed.
 */
export function dropUnknownFields(
  entity: KongEntity,
  definition: EntityDefinition,
  drop: (path: string) => boolean,
): KnownFields {
  const unknown: string[] = [];
  const schema = definition.schemaFor?.(entity.fields, 'create') ?? definition.schema;
  const ignored = new Set([...internal, ...(internalOf[entity.collection] ?? [])]);
  const entries = Object.entries(entity.fields).filter(([name]) => !ignored.has(name));
  return { fields: recordOf(schema, Object.fromEntries(entries), ''), unknown };

  function recordOf(record: RecordSchema, value: Fields, prefix: string): Fields {
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => {
        const field = record.fields.get(name);
        if (field !== undefined) return [[name, convertedValue(field, inner, `${prefix}${name}`)]];
        if (record.shorthands.has(name)) return [[name, inner]];
        if (isUnset(inner) || drop(`${prefix}${name}`)) return [];
        unknown.push(`${prefix}${name}`);
        return [];
      }),
    );
  }

  function convertedValue(field: Field, value: unknown, path: string): unknown {
    if (isRecord(field) && isFields(value)) return recordOf(field, value, `${path}.`);
    const { elements, values } = field.meta;
    if (elements !== undefined && isRecord(elements) && Array.isArray(value)) {
      return value.map((element: unknown) => (isFields(element) ? recordOf(elements, element, `${path}.`) : element));
    }
    if (values !== undefined && isRecord(values) && isFields(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, isFields(one) ? recordOf(values, one, `${path}.`) : one]),
      );
    }
    return value;
  }
}

function isRecord(field: Field): field is RecordSchema {
  return 'fields' in field;
}

/** A feature that is off, as those are that Enterprise and other versions add. */
function isUnset(value: unknown): boolean {
  if (value === null || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
