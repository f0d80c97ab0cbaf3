import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import type { Duplicate } from './assign-ids.ts';
import { keyOf } from './current-rows.ts';
import type { Entry } from './entry.ts';
import type { Pace } from './pace.ts';

/** The entries that have a unique value, or a combination of values, which an earlier one has. An entry is reported once. */
export async function findDuplicates(
  definition: EntityDefinition,
  entries: readonly Entry[],
  pace: Pace,
): Promise<readonly Duplicate[]> {
  const rules = [...definition.unique.map((field) => [field]), ...definition.uniqueTogether];
  const seen = rules.map(() => new Set<string>());
  const duplicates: Duplicate[] = [];
  for (const entry of entries) {
    const wait = pace();
    if (wait !== null) await wait;
    const values = entry.row ?? (definition.uniqueTogether.length === 0 ? entry.input : null);
    if (values === null) continue;
    let message: string | null = null;
    for (const [index, fields] of rules.entries()) {
      const key = keyOf(fields, values);
      if (key === null) continue;
      if (seen[index]?.has(key) === true) message ??= messageOf(definition, fields, values);
      seen[index]?.add(key);
    }
    if (message !== null) duplicates.push({ entry, message });
  }
  return duplicates;
}

/** A value that is a secret is not shown. */
function messageOf(
  { name, schema }: EntityDefinition,
  fields: readonly string[],
  values: Readonly<Record<string, unknown>>,
): string {
  const isSecret = fields.some((field) => schema.fields.get(field)?.meta.encrypted === true);
  const shown = fields.map((field) => textOf(values[field])).join(',');
  const what = isSecret ? fields.join(',') : `${fields.join(',')} set to '${shown}'`;
  return `uniqueness violation: '${name}' entity with ${what} already declared`;
}

function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'id' in value) return String(value.id);
  return value == null ? '' : String(value);
}
