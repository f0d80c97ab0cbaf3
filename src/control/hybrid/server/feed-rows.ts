import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { Change } from '../../store/store.ts';
import type { DataPlaneRights } from './data-plane-rights.ts';

/** A whole config is one step; others get their turn meanwhile. */
const changesPerTurn = 2000;

/**
 * The changes that data planes receive of those of a step, with what they may see of the rows. Of several of one kind for a row only the
 * last: each has the row as it is now.
 */
export async function changesForDataPlanes(
  changes: readonly Change[],
  entities: EntityRegistry,
  rights: DataPlaneRights,
): Promise<readonly Change[]> {
  const last = new Map<string, Change>();
  for (const [index, change] of changes.entries()) {
    if (index % changesPerTurn === changesPerTurn - 1) await nextTurn();
    const definition = entities.byName(change.entity);
    if (definition === undefined) continue;
    const { feed } = rights.of(definition);
    if (feed === 'nothing') continue;
    const key = `${change.entity}:${change.id}:${change.operation}`;
    last.delete(key);
    last.set(key, feed === 'row' || change.row === null ? change : { ...change, row: keysOf(definition, change.row) });
  }
  return [...last.values()];
}

/** The fields by which the row is looked up. */
function keysOf({ unique, lookups, foreign }: EntityDefinition, row: Row): Row {
  const keys: Record<string, unknown> = {};
  for (const field of [...unique, ...lookups, ...Object.keys(foreign)]) {
    if (row[field] !== undefined && row[field] !== null) keys[field] = row[field];
  }
  return { ...keys, id: row.id, created_at: row.created_at };
}
