/** A field of `GET /schemas/...`, in Kong's form. */
export interface FieldSchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'set' | 'map' | 'record' | 'foreign';
  readonly description?: string;
  readonly required?: boolean;
  readonly default?: unknown;
  /** The only value allowed; null: the field must stay unset. */
  readonly eq?: unknown;
  readonly one_of?: readonly (string | number)[];
  readonly auto?: boolean;
  readonly encrypted?: boolean;
  readonly between?: readonly [number, number];
  readonly gt?: number;
  readonly len_max?: number;
  readonly elements?: FieldSchema;
  readonly keys?: FieldSchema;
  readonly values?: FieldSchema;
  readonly fields?: readonly Readonly<Record<string, FieldSchema>>[];
  /** Schema name of the entity of a foreign field. */
  readonly reference?: string;
  readonly deprecation?: { readonly message?: string };
  /** Title under which a form shows it; the schemas of the gateway have none. */
  readonly group?: string;
}

export interface EntitySchema {
  readonly fields: readonly Readonly<Record<string, FieldSchema>>[];
}

export interface NamedField {
  readonly name: string;
  readonly schema: FieldSchema;
}

/** What the gateway sets itself. */
const managed = new Set(['id', 'created_at', 'updated_at']);

export function fieldsOf({ fields }: Pick<FieldSchema, 'fields'>): readonly NamedField[] {
  return (fields ?? []).flatMap((entry) => Object.entries(entry).map(([name, schema]) => ({ name, schema })));
}

/** The fields that a form has, in the order of the schema. */
export function formFields(schema: Pick<FieldSchema, 'fields'>): readonly NamedField[] {
  return fieldsOf(schema).filter(({ name, schema: field }) => !managed.has(name) && field.eq !== null);
}

/** The fields of an instance of a plugin: those of the entity, with what the plugin says about them. */
export function pluginFields(entity: EntitySchema, plugin: EntitySchema): readonly NamedField[] {
  const own = new Map(fieldsOf(plugin).map(({ name, schema }) => [name, schema]));
  const merged = formFields(entity).map(({ name, schema }) => ({ name, schema: own.get(name) ?? schema }));
  return merged.filter(({ name, schema }) => name !== 'name' && schema.eq !== null);
}

/** A field that a form shows first: it has to be set, or names and places the entity. */
export function isMain(field: NamedField): boolean {
  return field.schema.deprecation === undefined && (isRequired(field) || mainNames.has(field.name));
}

/** It has to be set, because it has no default. */
export function isRequired({ schema }: NamedField): boolean {
  return schema.required === true && schema.default === undefined && schema.auto !== true;
}

const mainNames = new Set([
  'name',
  'username',
  'custom_id',
  'host',
  'port',
  'path',
  'protocol',
  'paths',
  'hosts',
  'methods',
  'service',
  'route',
  'consumer',
  'upstream',
  'target',
  'weight',
  'key',
  'group',
  'password',
  'config',
  'tags',
  'algorithm',
]);

/** PEM texts and documents need several lines. */
export function isLongText(name: string, { type, len_max: max, description = '' }: FieldSchema): boolean {
  if (/\bPEM\b/.test(description)) return type === 'string';
  return (
    type === 'string' &&
    (max === undefined || max > 1000) &&
    /(?:^|_)(?:cert|cert_alt|pem|body|template|rsa_public_key|public_key|private_key|document|spec|contents?|schema)$/.test(
      name,
    )
  );
}
