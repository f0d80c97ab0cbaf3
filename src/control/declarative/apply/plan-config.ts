import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { ConfigPlan, ConfigRows, EntityChange } from '../contract.ts';
import { changedFields } from './changed-fields.ts';
import { entityLabel, type FindRow } from './entity-label.ts';

export interface PlanOptions {
  /** `replace`: what the document does not contain is deleted. `merge`: nothing is deleted. */
  readonly mode: 'replace' | 'merge';
  /**
   * Only entities with all of these tags are replaced or deleted, and every entity of the document receives them. Empty: all
   * entities.
   */
  readonly selectTags: readonly string[];
}

export const replaceAll: PlanOptions = Object.freeze({ mode: 'replace', selectTags: Object.freeze([]) });

/**
 * What leads from the current rows to the desired ones: new and changed entities, parents first, then deleted ones, children first.
 * `StoreWriter.writeRows` accepts it as one. Includes what a deletion takes with it. Only entities with `inConfig` are regarded.
 */
export function planConfig(
  current: ConfigRows,
  desired: ConfigRows,
  entities: EntityRegistry,
  options: PlanOptions = replaceAll,
): ConfigPlan {
  const definitions = entities.definitions.filter(({ inConfig }) => inConfig);
  const wanted = indexed(desired, definitions, (row, definition) => tagged(definition, row, options.selectTags));
  const present = indexed(current, definitions, (row) => row);
  const find: FindRow = (entity, id) => wanted.get(entity)?.get(id) ?? present.get(entity)?.get(id) ?? null;
  const labelOf = (definition: EntityDefinition, row: Row): string => entityLabel(entities, definition, row, find);

  const changes: EntityChange[] = [];
  let unchanged = 0;
  for (const definition of definitions) {
    const rows = present.get(definition.name);
    for (const row of wanted.get(definition.name)?.values() ?? []) {
      const change = changeOf(definition, rows?.get(row.id) ?? null, row, labelOf);
      if (change === null) unchanged++;
      else changes.push(change);
    }
  }
  const deleted =
    options.mode === 'merge' ? new Map<string, Set<string>>() : deletions(definitions, present, wanted, options);
  for (const definition of definitions.toReversed()) {
    const rows = present.get(definition.name) ?? new Map<string, Row>();
    for (const id of deleted.get(definition.name) ?? []) {
      const before = rows.get(id);
      if (before === undefined) continue;
      const label = labelOf(definition, before);
      changes.push({ operation: 'delete', entity: definition.name, id, label, before, after: null, fields: [] });
    }
    unchanged += remaining(rows, wanted.get(definition.name), deleted.get(definition.name));
  }
  return { changes, unchanged };
}

type RowIndex = ReadonlyMap<string, ReadonlyMap<string, Row>>;

function indexed(
  rows: ConfigRows,
  definitions: readonly EntityDefinition[],
  read: (row: Row, definition: EntityDefinition) => Row,
): RowIndex {
  return new Map(
    definitions.map((definition) => [
      definition.name,
      new Map((rows[definition.name] ?? []).map((row) => [row.id, read(row, definition)])),
    ]),
  );
}

function changeOf(
  definition: EntityDefinition,
  before: Row | null,
  after: Row,
  labelOf: (definition: EntityDefinition, row: Row) => string,
): EntityChange | null {
  const entity = definition.name;
  const { id } = after;
  if (before === null) {
    return { operation: 'create', entity, id, label: labelOf(definition, after), before, after, fields: [] };
  }
  // A declared row that is the same as the current one is that object itself.
  if (before === after) return null;
  const fields = changedFields(before, after);
  if (fields.length === 0) return null;
  return { operation: 'update', entity, id, label: labelOf(definition, after), before, after, fields };
}

/** Ids of rows to delete: selected rows that are not wanted, and those that refer to them by a cascading rule. */
function deletions(
  definitions: readonly EntityDefinition[],
  present: RowIndex,
  wanted: RowIndex,
  { selectTags }: PlanOptions,
): ReadonlyMap<string, Set<string>> {
  const deleted = new Map<string, Set<string>>(definitions.map(({ name }) => [name, new Set<string>()]));
  // Parents first, so that those of a row are decided before it.
  for (const { name, foreign } of definitions) {
    const cascades = Object.entries(foreign).filter(([, { onDelete }]) => onDelete === 'cascade');
    for (const row of present.get(name)?.values() ?? []) {
      if (wanted.get(name)?.has(row.id) === true) continue;
      const gone = cascades.some(([field, { entity }]) => deleted.get(entity)?.has(idIn(row[field]) ?? '') === true);
      if (gone || isSelected(row, selectTags)) deleted.get(name)?.add(row.id);
    }
  }
  return deleted;
}

export function idIn(reference: unknown): string | null {
  if (typeof reference !== 'object' || reference === null || !('id' in reference)) return null;
  return typeof reference.id === 'string' ? reference.id : null;
}

export function isSelected(row: Row, selectTags: readonly string[]): boolean {
  if (selectTags.length === 0) return true;
  const tags = row['tags'];
  return Array.isArray(tags) && selectTags.every((tag) => tags.includes(tag));
}

function tagged({ schema }: EntityDefinition, row: Row, selectTags: readonly string[]): Row {
  if (selectTags.length === 0 || isSelected(row, selectTags) || schema.fields.get('tags') === undefined) return row;
  const tags = Array.isArray(row['tags']) ? row['tags'] : [];
  return { ...row, tags: [...tags, ...selectTags.filter((tag) => !tags.includes(tag))] };
}

function remaining(
  rows: ReadonlyMap<string, Row>,
  wanted: ReadonlyMap<string, Row> | undefined,
  deleted: ReadonlySet<string> | undefined,
): number {
  let count = 0;
  for (const id of rows.keys()) if (wanted?.has(id) !== true && deleted?.has(id) !== true) count++;
  return count;
}
