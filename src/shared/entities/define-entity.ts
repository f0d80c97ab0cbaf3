import type { RecordSchema } from '../schema/fields.ts';
import type { EntityDefinition, ForeignField } from './entity.ts';

/** The declaration of an entity in addition to its schema; the rest is derived from the fields. */
export interface EntityDescription
  extends Pick<
    EntityDefinition,
    'name' | 'path' | 'endpointKey' | 'schema' | 'schemaFor' | 'prepare' | 'derive' | 'conceal' | 'beforeDelete'
  > {
  readonly timestamps?: EntityDefinition['timestamps'];
  readonly uniqueTogether?: EntityDefinition['uniqueTogether'];
  readonly nestedUnder?: EntityDefinition['nestedUnder'];
  readonly lookups?: EntityDefinition['lookups'];
  /** Default: true. */
  readonly inConfig?: boolean;
}

/** Completes the description of an entity from its fields: unique and foreign fields, timestamps. */
export function defineEntity(description: EntityDescription): EntityDefinition {
  const { schema } = description;
  return Object.freeze({
    timestamps: 'seconds' as const,
    uniqueTogether: [],
    nestedUnder: [],
    lookups: [],
    inConfig: true,
    ...description,
    expires: schema.fields.has('ttl'),
    hasUpdatedAt: schema.fields.has('updated_at'),
    unique: uniqueFields(schema),
    foreign: foreignFields(schema),
  });
}

function uniqueFields(schema: RecordSchema): readonly string[] {
  return [...schema.fields].filter(([, field]) => field.meta.unique === true).map(([name]) => name);
}

function foreignFields(schema: RecordSchema): Readonly<Record<string, ForeignField>> {
  const foreign: Record<string, ForeignField> = {};
  for (const [name, { meta }] of schema.fields) {
    if (meta.reference !== undefined)
      foreign[name] = { entity: meta.reference, onDelete: meta.on_delete ?? 'restrict' };
  }
  return foreign;
}
