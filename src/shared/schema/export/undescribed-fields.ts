import type { RecordSchema } from '../fields.ts';
import { isRecordSchema } from './export.ts';

/** Paths of all fields without a description, nested ones included. */
export function undescribedFields(schema: RecordSchema, prefix = ''): readonly string[] {
  return [...schema.fields].flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const below = [field, field.meta.elements, field.meta.values].filter((part) => part !== undefined);
    const nested = below.flatMap((part) => (isRecordSchema(part) ? undescribedFields(part, `${path}.`) : []));
    const described = field.meta.description !== undefined && field.meta.description.trim() !== '';
    return described ? nested : [path, ...nested];
  });
}
