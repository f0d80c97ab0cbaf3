import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { ErrorTree } from '../../../shared/schema/validate.ts';
import type { ConfigPlan, ConfigProblem, ConfigRows } from '../contract.ts';
import { idIn, isSelected, type PlanOptions } from './plan-config.ts';

/**
 * Why a plan cannot be carried out although its document is valid: entities that stay have the same unique values, refer to
 * entities that would be deleted, or would be replaced without having the selected tags.
 */
export function planProblems(
  plan: ConfigPlan,
  current: ConfigRows,
  entities: EntityRegistry,
  options: PlanOptions,
): readonly ConfigProblem[] {
  if (plan.changes.length === 0) return [];
  const problems: ConfigProblem[] = [];
  const written = new Map<string, Map<string, Row | null>>();
  for (const { entity, id, after } of plan.changes) {
    const rows = written.get(entity) ?? new Map<string, Row | null>();
    if (rows.size === 0) written.set(entity, rows);
    rows.set(id, after);
  }
  const definitions = entities.definitions.filter(({ inConfig }) => inConfig);
  const ids = new Map<string, Set<string>>();
  for (const definition of definitions) {
    const rows = resulting(current[definition.name] ?? [], written.get(definition.name));
    ids.set(definition.name, new Set(rows.map(({ id }) => id)));
    const changed = written.get(definition.name);
    for (const check of uniqueSets(definition)) problems.push(...collisions(definition, check, rows, changed));
    if (written.size > 0) problems.push(...danglingReferences(definition, rows, ids));
  }
  if (options.selectTags.length > 0) problems.push(...unselected(plan, entities, options));
  return problems;
}

function resulting(rows: readonly Row[], written: ReadonlyMap<string, Row | null> | undefined): readonly Row[] {
  if (written === undefined) return rows;
  const after: Row[] = [];
  for (const row of rows) if (!written.has(row.id)) after.push(row);
  for (const row of written.values()) if (row !== null) after.push(row);
  return after;
}

interface UniqueSet {
  readonly fields: readonly string[];
  /** Fields unique together: null counts as a value. */
  readonly together: boolean;
}

function uniqueSets({ unique, uniqueTogether }: EntityDefinition): readonly UniqueSet[] {
  return [
    ...unique.map((field) => ({ fields: [field], together: false })),
    ...uniqueTogether.map((fields) => ({ fields, together: true })),
  ];
}

function collisions(
  definition: EntityDefinition,
  { fields, together }: UniqueSet,
  rows: readonly Row[],
  written: ReadonlyMap<string, Row | null> | undefined,
): readonly ConfigProblem[] {
  if (written === undefined) return [];
  const owners = new Map<string, Row>();
  const problems: ConfigProblem[] = [];
  for (const row of rows) {
    const values = fields.map((field) => idIn(row[field]) ?? row[field] ?? null);
    if (!together && values[0] === null) continue;
    const key = JSON.stringify(values);
    const owner = owners.get(key);
    owners.set(key, row);
    if (owner === undefined) continue;
    const ours = written.has(row.id) ? row : owner;
    const theirs = ours === row ? owner : row;
    const [field] = fields;
    const message = `another entity has the same ${fields.join(', ')}: ${theirs.id}`;
    problems.push(
      problemOf(definition, ours, {
        [fields.length === 1 && field !== undefined ? field : '@entity']: fields.length === 1 ? message : [message],
      }),
    );
  }
  return problems;
}

function danglingReferences(
  definition: EntityDefinition,
  rows: readonly Row[],
  ids: ReadonlyMap<string, ReadonlySet<string>>,
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const [field, { entity }] of Object.entries(definition.foreign)) {
    for (const row of rows) {
      const id = idIn(row[field]);
      if (id === null || ids.get(entity)?.has(id) !== false) continue;
      problems.push(
        problemOf(definition, row, { [field]: `the entity would refer to one of ${entity} that is not there: ${id}` }),
      );
    }
  }
  return problems;
}

function unselected(plan: ConfigPlan, entities: EntityRegistry, { selectTags }: PlanOptions): readonly ConfigProblem[] {
  return plan.changes.flatMap(({ operation, entity, before, after }) => {
    const definition = entities.byName(entity);
    if (operation !== 'update' || before === null || after === null || definition === undefined) return [];
    if (isSelected(before, selectTags) || definition.schema.fields.get('tags') === undefined) return [];
    const message = `an entity of this name or id exists without the selected tags: ${selectTags.join(', ')}`;
    return [problemOf(definition, after, { '@entity': [message] })];
  });
}

function problemOf(definition: EntityDefinition, row: Row, errors: ErrorTree): ConfigProblem {
  const { endpointKey, schema, name } = definition;
  const key = endpointKey ?? 'name';
  const value = schema.fields.get(key)?.meta.encrypted === true ? null : row[key];
  const tags = row['tags'];
  return {
    entity: name,
    path: [],
    position: null,
    id: row.id,
    name: typeof value === 'string' ? value : null,
    tags: Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : null,
    input: {},
    errors,
  };
}
