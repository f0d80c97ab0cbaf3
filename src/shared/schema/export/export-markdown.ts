import type { Field } from '../field-meta.ts';
import type { RecordSchema } from '../fields.ts';
import { isRecordSchema } from './export.ts';

/** A table of every field, nested ones by their path, for the generated documentation. */
export function exportMarkdownTable(schema: RecordSchema): string {
  const lines = ['| Field | Type | Default | Description |', '|---|---|---|---|'];
  for (const row of rowsOf(schema, '')) lines.push(`| ${row.map(escapeCell).join(' | ')} |`);
  return `${lines.join('\n')}\n`;
}

function rowsOf(schema: RecordSchema, prefix: string): readonly (readonly string[])[] {
  const own = [...schema.fields].flatMap(([name, field]) => fieldRows(field, `${prefix}${name}`));
  const shorthands = [...schema.shorthands].map(([name, { field, replacedWith }]) => {
    const note =
      replacedWith === undefined ? 'Shorthand, on input only.' : `Deprecated: use \`${replacedWith.join('.')}\`.`;
    return [`\`${prefix}${name}\``, typeOf(field), '', [field.meta.description, note].filter(Boolean).join(' ')];
  });
  return [...own, ...shorthands];
}

function fieldRows(field: Field, path: string): readonly (readonly string[])[] {
  const row = [`\`${path}\``, typeOf(field), defaultOf(field), descriptionOf(field)];
  if (isRecordSchema(field)) return [row, ...rowsOf(field, `${path}.`)];
  const { elements, values } = field.meta;
  if (elements !== undefined && isRecordSchema(elements)) return [row, ...rowsOf(elements, `${path}[].`)];
  if (values !== undefined && isRecordSchema(values)) return [row, ...rowsOf(values, `${path}.*.`)];
  return [row];
}

function typeOf({ meta }: Field): string {
  if (meta.elements !== undefined) return `${meta.type} of ${typeOf(meta.elements)}`;
  if (meta.values !== undefined) return `map of ${typeOf(meta.values)}`;
  return meta.type === 'foreign' ? `reference to ${meta.reference}` : meta.type;
}

function defaultOf({ meta }: Field): string {
  if (meta.default !== undefined) return `\`${JSON.stringify(meta.default)}\``;
  if (meta.auto === true) return 'generated';
  return meta.required && meta.type !== 'record' ? '**required**' : '';
}

function descriptionOf({ meta }: Field): string {
  const limits = [
    meta.one_of !== undefined && `One of ${meta.one_of.map((value) => `\`${value}\``).join(', ')}.`,
    meta.between !== undefined && `From ${meta.between[0]} to ${meta.between[1]}.`,
    meta.gt !== undefined && `Greater than ${meta.gt}.`,
    meta.unit !== undefined && `Unit: ${meta.unit}.`,
    meta.computed === true && 'Computed: answers show it, and it is not part of the schema.',
  ];
  return [meta.description, ...limits].filter((text) => typeof text === 'string').join(' ');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
