import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { schemaOf, toSeconds } from '../../../shared/entities/rows.ts';
import { bounded, differenceOf } from './difference.ts';
import { redactFields } from './redact.ts';

/** What differs between two states of a row, or the whole of a new or deleted one, without secrets and of bounded size. */
export function shownDifference(
  definition: EntityDefinition,
  { before, after }: { readonly before: Row | null; readonly after: Row | null },
): Record<string, unknown> {
  if (before === null || after === null) {
    const { truncated, ...sides } = bounded(shown(definition, before, before), shown(definition, after, after));
    return { ...sides, ...(truncated && { truncated }) };
  }
  const changed = differenceOf(before, after);
  const { truncated, ...sides } = bounded(
    shown(definition, before, changed.before),
    shown(definition, after, changed.after),
  );
  return { ...sides, ...(truncated && { truncated }) };
}

/** Some fields of a row, with times as the Admin API shows them. `redact` needs the whole row. */
function shown(
  definition: EntityDefinition,
  row: Row | null,
  fields: Readonly<Record<string, unknown>> | null,
): Record<string, unknown> | null {
  if (row === null || fields === null) return null;
  const seen = redactFields(schemaOf(definition, row), fields);
  for (const [name, value] of Object.entries(seen)) {
    const isTime = name === 'expires_at' ? definition.expires : definition.schema.fields.get(name)?.meta.timestamp;
    if (isTime === true) seen[name] = toSeconds(definition, value);
  }
  return seen;
}
