import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';

/** Finds a row by schema name and id. */
export type FindRow = (entity: string, id: string) => Row | null;

/** Fields that name an entity for people, in this order, after its endpoint key. */
const namingFields = ['name', 'username', 'custom_id', 'target', 'group', 'prefix', 'host'] as const;

const maxLength = 200;

/**
 * The name of an entity for people: `users`, `key-auth of service users`, `acls of consumer ada`. It contains no field that the
 * schema marks as a secret.
 */
export function entityLabel(entities: EntityRegistry, definition: EntityDefinition, row: Row, find: FindRow): string {
  const own = ownName(definition, row);
  if (
    own !== null &&
    definition.endpointKey !== null &&
    definition.name !== 'plugins' &&
    definition.name !== 'targets'
  ) {
    return own.slice(0, maxLength);
  }
  const owner = ownerOf(entities, definition, row, find);
  if (own === null && owner === null) return row.id;
  return [own ?? definition.name, ...(owner === null ? [] : [`of ${owner}`])].join(' ').slice(0, maxLength);
}

function ownName({ name, endpointKey, schema }: EntityDefinition, row: Row): string | null {
  const fields = name === 'plugins' ? ['name'] : [endpointKey, ...namingFields];
  for (const field of fields) {
    if (field === null || schema.fields.get(field)?.meta.encrypted === true) continue;
    const value = row[field];
    if (typeof value === 'string' && value !== '') return value;
  }
  const paths = row['paths'];
  return Array.isArray(paths) && typeof paths[0] === 'string' ? paths[0] : null;
}

function ownerOf(entities: EntityRegistry, definition: EntityDefinition, row: Row, find: FindRow): string | null {
  const owners: string[] = [];
  for (const [field, { entity }] of Object.entries(definition.foreign)) {
    const reference = row[field];
    if (typeof reference !== 'object' || reference === null || !('id' in reference)) continue;
    const id = String(reference.id);
    const owner = find(entity, id);
    const parent = entities.byName(entity);
    owners.push(`${field} ${(owner === null || parent === undefined ? null : ownName(parent, owner)) ?? id}`);
  }
  return owners.length === 0 ? null : owners.join(' and ');
}
