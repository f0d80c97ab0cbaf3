import type { EntityDefinition } from './entity.ts';
import type { EntityRegistry } from './registry.ts';

/** A foreign field that names a unique field of the other entity: `{ "service": { "name": "users" } }`. */
export interface NamedReference {
  /** The foreign field: `service`. */
  readonly field: string;
  /** Schema name of the referenced entity. */
  readonly entity: string;
  /** The unique field of the reference: `name`. */
  readonly key: string;
  readonly value: string;
}

/** The references in a body that must be looked up, and replaced by `{ id }`, before the body is validated. */
export function namedReferences(
  definition: EntityDefinition,
  input: Readonly<Record<string, unknown>>,
  registry: EntityRegistry,
): readonly NamedReference[] {
  return Object.entries(definition.foreign).flatMap(([field, { entity }]) => {
    const given = input[field];
    if (typeof given !== 'object' || given === null || Object.hasOwn(given, 'id')) return [];
    const unique = registry.byName(entity)?.unique ?? [];
    const entry = Object.entries(given).find(([key, value]) => unique.includes(key) && typeof value === 'string');
    return entry === undefined ? [] : [{ field, entity, key: entry[0], value: String(entry[1]) }];
  });
}
