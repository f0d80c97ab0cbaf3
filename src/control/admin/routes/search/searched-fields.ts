import type { EntityDefinition, Row } from '../../../../shared/entities/entity.ts';
import type { SearchText } from './search-text.ts';

/** What people know a row by, best first. The configuration of plugins is not searched: it may contain secrets. */
const searched = [
  'name',
  'instance_name',
  'username',
  'custom_id',
  'target',
  'group',
  'subject_name',
  'client_id',
  'hosts',
  'host',
  'paths',
  'path',
  'snis',
  'tags',
];

/** Fields by which rows of the entity are found: never a secret. */
export function searchedFields({ schema, endpointKey }: EntityDefinition): readonly string[] {
  const names = endpointKey === null || searched.includes(endpointKey) ? searched : [endpointKey, ...searched];
  return names.filter((name) => {
    const field = schema.fields.get(name);
    return field !== undefined && field.meta.encrypted !== true && field.meta.elements?.meta.encrypted !== true;
  });
}

/** The texts of a row. A service is found by its URL, too. */
export function textsOf(fields: readonly string[], row: Row): readonly SearchText[] {
  const texts: SearchText[] = [];
  for (const field of fields) {
    const value = row[field];
    for (const item of Array.isArray(value) ? value : [value]) {
      if (typeof item === 'string' && item !== '') texts.push({ field, value: item });
    }
  }
  const { protocol, host, port, path } = row;
  if (typeof protocol === 'string' && typeof host === 'string' && typeof port === 'number') {
    texts.push({ field: 'url', value: `${protocol}://${host}:${port}${typeof path === 'string' ? path : ''}` });
  }
  texts.push({ field: 'id', value: row.id });
  return texts;
}

const nameFields = ['name', 'username', 'target', 'custom_id', 'group', 'subject_name', 'client_id'];

/** What people call a row; its id if it has no name. Never a secret. */
export function nameOf(definition: EntityDefinition, row: Row): string {
  const known = new Set(searchedFields(definition));
  const instance = row['instance_name'];
  if (known.has('instance_name') && typeof instance === 'string' && instance !== '') {
    return `${instance} (${String(row['name'])})`;
  }
  const field = nameFields.find((name) => known.has(name) && typeof row[name] === 'string' && row[name] !== '');
  return field === undefined ? row.id : String(row[field]);
}
