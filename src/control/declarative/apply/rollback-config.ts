import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { RowSince } from '../../store/history.ts';
import type { StoreWriter } from '../../store/store.ts';
import type { ConfigPlan, EntityChange } from '../contract.ts';
import { type ApplyContext, hasExpired, publishTimeout, writePlan } from './apply-config.ts';
import { changedFields } from './changed-fields.ts';
import { entityLabel, type FindRow } from './entity-label.ts';

export interface RolledBack {
  readonly plan: ConfigPlan;
  /** The version that it became; null when the config already was that of the version. */
  readonly version: number | null;
}

/**
 * Makes the config what it was after a version: one transaction, and itself a version. Null when that version is not kept. Only
 * rows that were changed since are read. `record` is the last step of the transaction.
 */
export async function rollbackConfig(
  { store, publisher, entities }: ApplyContext,
  version: number,
  record: (writer: StoreWriter) => Promise<void> = async () => {},
): Promise<RolledBack | null> {
  // An old version stays one: the newest of those that are removed is the oldest that remains.
  const { result, version: reached } = await store.write(async (writer) => {
    const kept = await store.getVersion(version);
    if (kept === null) return null;
    const plan = planReturn(await writer.rowsSince(version), entities);
    if (plan.changes.length > 0) {
      await writePlan(writer, entities, plan);
      await record(writer);
    }
    return plan;
  });
  if (result === null) return null;
  if (result.changes.length === 0) return { plan: result, version: null };
  await publisher?.published(reached, publishTimeout);
  return { plan: result, version: reached };
}

/** What a rollback would do; null when that version is not kept. */
export async function previewRollback(
  { store, entities }: Pick<ApplyContext, 'store' | 'entities'>,
  version: number,
): Promise<ConfigPlan | null> {
  if ((await store.getVersion(version)) === null) return null;
  return planReturn(await store.rowsBetween(version, null), entities);
}

/** What leads from the rows as they are (`now`) to the rows as they were (`was`). */
export function planReturn(rows: readonly RowSince[], entities: EntityRegistry): ConfigPlan {
  const now = Date.now();
  const byId = new Map(rows.map((row) => [`${row.entity}/${row.id}`, row]));
  const find: FindRow = (entity, id) => {
    const row = byId.get(`${entity}/${id}`);
    return row?.was ?? row?.now ?? null;
  };
  const order = new Map(entities.definitions.map(({ name }, i) => [name, i]));
  const written: EntityChange[] = [];
  const deleted: EntityChange[] = [];
  for (const { entity, id, was, now: before } of rows) {
    const definition = entities.byName(entity);
    if (definition === undefined) continue;
    // What has expired since does not come back.
    const after = was !== null && definition.expires && hasExpired(was, now) ? null : was;
    const named = after ?? before;
    if (named === null) continue;
    const fields = after === null || before === null ? [] : changedFields(before, after);
    if (after !== null && before !== null && fields.length === 0) continue;
    const operation = after === null ? 'delete' : before === null ? 'create' : 'update';
    const label = entityLabel(entities, definition, named, find);
    const change = { operation, entity, id, label, before, after, fields } as const;
    if (operation === 'delete') deleted.push(change);
    else written.push(change);
  }
  const position = ({ entity }: EntityChange): number => order.get(entity) ?? 0;
  written.sort((a, b) => position(a) - position(b));
  deleted.sort((a, b) => position(b) - position(a));
  return { changes: [...written, ...deleted], unchanged: 0 };
}
