import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import { namedReferences } from '../../../shared/entities/references.ts';
import { foreignKeysUnresolved } from '../../../shared/schema/errors.ts';
import type { StoreReader } from '../../store/store.ts';
import { kongError } from '../errors.ts';
import type { AdminContext } from './admin-context.ts';
import type { Input } from './input.ts';

/** Turns `{"service":{"name":"users"}}` into `{"service":{"id":"..."}}`. */
export async function resolveReferences(
  context: AdminContext,
  reader: StoreReader,
  definition: EntityDefinition,
  input: Input,
): Promise<Input> {
  const references = namedReferences(definition, input, context.entities);
  if (references.length === 0) return input;
  const resolved: Record<string, unknown> = { ...input };
  const unresolved: (typeof references)[number][] = [];
  for (const reference of references) {
    const row = await reader.findBy(reference.entity, reference.key, reference.value);
    if (row === null) unresolved.push(reference);
    else resolved[reference.field] = { id: row.id };
  }
  if (unresolved.length > 0) throw kongError(foreignKeysUnresolved(unresolved));
  return resolved;
}
