import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { RowSince, VersionChange } from '../../store/history.ts';
import type { ConfigPlan, EntityChange } from '../contract.ts';
import { changedFields } from './changed-fields.ts';
import { planReturn } from './rollback-config.ts';

/** How one version is taken back while later ones stay. */
export interface UndoPlan {
  readonly plan: ConfigPlan;
  /** Entities of the version that were changed again since: an undo would take that back as well. */
  readonly conflicts: readonly EntityChange[];
}

/** `changes`: all of the version. `since`: every row that was changed after it. */
export function planUndo(
  changes: readonly VersionChange[],
  since: readonly RowSince[],
  entities: EntityRegistry,
): UndoPlan {
  const later = new Map(since.filter(hasChanged).map((row) => [`${row.entity}/${row.id}`, row]));
  const rows = changes.map(({ entity, id, before, after }) => ({ entity, id, was: before, now: after }));
  const plan = planReturn(rows, entities);
  return { plan, conflicts: plan.changes.filter(({ entity, id }) => later.has(`${entity}/${id}`)) };
}

function hasChanged({ was, now }: RowSince): boolean {
  if (was === null || now === null) return was !== now;
  return changedFields(was, now).length > 0;
}
