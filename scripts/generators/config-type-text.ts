import { isRecordSchema } from '../../src/shared/schema/export/export.ts';
import type { Field, FieldMeta } from '../../src/shared/schema/field-meta.ts';
import type { RecordSchema, Shorthand } from '../../src/shared/schema/fields.ts';

/** One line of an interface. */
interface Member {
  readonly name: string;
  readonly optional: boolean;
  readonly type: string;
  readonly comment: string;
}

/** The members of the type of what a declarative document may contain for this schema. `without`: names that it must not have. */
export function membersOf(schema: RecordSchema, without: ReadonlySet<string> = new Set()): string {
  const shorthands = [...schema.shorthands];
  const own = [...schema.fields]
    .filter(([name, { meta }]) => !without.has(name) && meta.computed !== true && !mustStayUnset(meta))
    .map(
      ([name, field]): Member => ({
        name,
        optional: !isMandatory(name, field, shorthands),
        type: typeOf(field),
        comment: commentOf(field.meta),
      }),
    );
  const more = shorthands.map(
    ([name, { field, replacedWith }]): Member => ({
      name,
      optional: true,
      type: typeOf(field),
      comment: replacedWith === undefined ? commentOf(field.meta) : `@deprecated Use \`${replacedWith.join('.')}\`.`,
    }),
  );
  return [...own, ...more].map(memberText).join('\n');
}

function memberText({ name, optional, type, comment }: Member): string {
  const key = /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`;
  const line = `readonly ${key}${optional ? '?' : ''}: ${type};`;
  return comment === '' ? line : `/** ${comment} */\n${line}`;
}

function mustStayUnset(meta: FieldMeta): boolean {
  return meta.eq === null;
}

/** A field without a default that a document must contain, unless a shorthand sets it. */
function isMandatory(name: string, field: Field, shorthands: readonly (readonly [string, Shorthand])[]): boolean {
  const { meta } = field;
  if (!meta.required || meta.default !== undefined || meta.auto === true) return false;
  if (shorthands.some(([, shorthand]) => maySet(shorthand, name))) return false;
  return isRecordSchema(field) ? hasMandatory(field) : true;
}

/** What a shorthand without `replacedWith` sets is known to its function only. */
function maySet({ replacedWith }: Shorthand, name: string): boolean {
  return replacedWith === undefined || replacedWith[0] === name;
}

function hasMandatory(schema: RecordSchema): boolean {
  const shorthands = [...schema.shorthands];
  return [...schema.fields].some(([name, field]) => isMandatory(name, field, shorthands));
}

function typeOf(field: Field): string {
  const type = valueType(field);
  return field.meta.required || field.meta.auto === true ? type : `${type} | null`;
}

function valueType(field: Field): string {
  const { type, one_of: allowed, elements, keys, values } = field.meta;
  if (allowed !== undefined && allowed.length > 0) {
    return allowed.map((value) => (typeof value === 'string' ? literal(value) : String(value))).join(' | ');
  }
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
      return type;
    case 'integer':
      return 'number';
    // By its id or its name.
    case 'foreign':
      return 'string';
    case 'array':
    case 'set':
      return elements === undefined ? 'readonly unknown[]' : `readonly ${grouped(valueType(elements))}[]`;
    case 'map':
      return mapType(keys, values);
    case 'record':
      return isRecordSchema(field) ? recordType(field) : '{ readonly [name: string]: unknown }';
  }
}

function recordType(schema: RecordSchema): string {
  const members = membersOf(schema);
  return members === '' ? '{ readonly [name: string]: never }' : `{\n${members}\n}`;
}

function mapType(keys: Field | undefined, values: Field | undefined): string {
  const value = values === undefined ? 'unknown' : valueType(values);
  const names = keys?.meta.one_of;
  if (names === undefined) return `{ readonly [name: string]: ${value} }`;
  return `{ readonly [name in ${names.map((name) => literal(String(name))).join(' | ')}]?: ${value} }`;
}

function grouped(type: string): string {
  return type.includes(' | ') && !type.startsWith('{') ? `(${type})` : type;
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function commentOf({ description, unit, default: preset }: FieldMeta): string {
  const parts = [
    description?.replaceAll('\n', ' ').replaceAll('*/', '*\u200b/'),
    unit !== undefined && `Unit: ${unit}.`,
    isSimple(preset) && `Default: \`${String(preset)}\`.`,
  ];
  return parts.filter((part) => typeof part === 'string' && part !== '').join(' ');
}

function isSimple(preset: unknown): boolean {
  const isShort = typeof preset === 'string' && preset !== '' && preset.length <= 40 && !preset.includes('*/');
  return typeof preset === 'number' || typeof preset === 'boolean' || isShort;
}
