import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import { orderedUuid } from '../../../shared/util/time/ordered-uuid.ts';
import type { CurrentRows } from './current-rows.ts';
import { deterministicId, idName } from './deterministic-id.ts';
import type { Entry } from './entry.ts';
import type { Pace } from './pace.ts';

export interface Duplicate {
  readonly entry: Entry;
  readonly message: string;
}

/**
 * Gives every entry its id: the one in the document; or that of the row with the same unique fields; or the deterministic one, unless
 * it belongs to another entity by now; or a new one. The references of the entries are resolved already.
 */
export async function assignIds(
  definition: EntityDefinition,
  entries: readonly Entry[],
  current: CurrentRows,
  pace: Pace,
): Promise<readonly Duplicate[]> {
  const duplicates: Duplicate[] = [];
  const derived = new Set<string>();
  for (const entry of entries) {
    if (entry.givenId === null) continue;
    entry.id = entry.givenId;
    if (!current.claim(entry.id)) duplicates.push({ entry, message: primaryKeyMessage(definition, entry.id) });
    else entry.before = current.get(entry.id);
  }
  for (const entry of entries) {
    if (entry.givenId === null || entry.before !== null) continue;
    const wait = pace();
    if (wait !== null) await wait;
    entry.before = current.findByKeys(keyValues(entry));
  }
  for (const entry of entries) {
    if (entry.givenId !== null) continue;
    const wait = pace();
    if (wait !== null) await wait;
    const row = current.findByKeys(keyValues(entry));
    if (row === null || !current.claim(row.id)) continue;
    entry.id = row.id;
    entry.before = row;
  }
  for (const entry of entries) {
    if (entry.id !== '') continue;
    const wait = pace();
    if (wait !== null) await wait;
    const name = idName(namedOf(entry));
    const id = name === null ? null : deterministicId(definition.name, name);
    if (id !== null && current.claim(id)) {
      entry.id = id;
      entry.before = current.get(id);
      derived.add(id);
      continue;
    }
    entry.id = orderedUuid();
    current.claim(entry.id);
    // Two entities that derive the same id are the same entity twice; a name that is unique itself is reported on its own.
    if (id !== null && derived.has(id) && !hasUniqueName(definition)) {
      duplicates.push({ entry, message: primaryKeyMessage(definition, id) });
    }
  }
  return duplicates;
}

/** The fields by which an entry may be found among the rows, as they will be stored. */
function keyValues({ definition, input, references }: Entry): Readonly<Record<string, unknown>> {
  const prepared = definition.uniqueTogether.length === 0 ? null : definition.prepare?.(input, replacing(input));
  const values: Record<string, unknown> = { ...(prepared ?? input) };
  for (const field of Object.keys(definition.foreign)) {
    const id = references[field];
    if (id !== undefined) values[field] = { id };
    // An unknown reference must not look like none.
    else if (values[field] != null) values[field] = { id: '' };
  }
  return values;
}

function replacing(change: Readonly<Record<string, unknown>>) {
  return { operation: 'replace' as const, change };
}

function namedOf({ definition, input, parent, parentField }: Entry) {
  const { name, endpointKey } = definition;
  const key = hasUniqueName(definition) ? endpointKey : null;
  const around = parent === null || parentField === null ? null : { field: parentField, id: parent.id };
  return { entity: name, key, input, parent: around };
}

function hasUniqueName({ endpointKey, unique }: EntityDefinition): boolean {
  return endpointKey !== null && endpointKey !== 'instance_name' && unique.includes(endpointKey);
}

function primaryKeyMessage({ name }: EntityDefinition, id: string): string {
  return `uniqueness violation: '${name}' entity with primary key set to '${id}' already declared`;
}
