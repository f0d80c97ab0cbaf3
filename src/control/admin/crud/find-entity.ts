import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { invalidPrimaryKey } from '../../../shared/schema/errors.ts';
import type { StoreReader } from '../../store/store.ts';
import { kongError } from '../errors.ts';
import { notFound } from '../http/http-error.ts';
import type { AdminContext } from './admin-context.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The path segment as an id, or null when it is a name. A UUID is always an id. */
export function idOf(segment: string): string | null {
  return uuid.test(segment) ? segment.toLowerCase() : null;
}

/** The entity that a path segment names, by id or by its endpoint key. */
export async function findEntity(
  context: AdminContext,
  reader: StoreReader,
  definition: EntityDefinition,
  segment: string,
): Promise<Row | null> {
  const id = idOf(segment);
  if (id !== null) return reader.get(definition.name, id);
  const { findByName } = context.extras(definition.name);
  if (findByName !== undefined) return findByName(reader, segment);
  if (definition.endpointKey !== null) return reader.findBy(definition.name, definition.endpointKey, segment);
  throw kongError(invalidPrimaryKey({ id: 'expected a valid UUID' }));
}

/** Like `findEntity`, for entities that the request requires: a plain 404 when it is missing. */
export async function needEntity(
  context: AdminContext,
  reader: StoreReader,
  definition: EntityDefinition,
  segment: string,
): Promise<Row> {
  const row = await findEntity(context, reader, definition, segment);
  if (row === null) throw notFound();
  return row;
}

/** The id in a foreign field of the row, or null. */
export function referenceOf(row: Row, field: string): string | null {
  const value = row[field];
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  return typeof value.id === 'string' ? value.id : null;
}
