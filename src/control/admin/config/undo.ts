import type { ApplyContext } from '../../declarative/apply/apply-config.ts';
import { entityLabel } from '../../declarative/apply/entity-label.ts';
import { planUndo } from '../../declarative/apply/undo-version.ts';
import type { ConfigPlan, EntityChange } from '../../declarative/contract.ts';
import type { RowChange } from '../../store/audit.ts';
import type { RowSince } from '../../store/history.ts';
import { StoreError, type StoreWriter } from '../../store/store.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import { removeEntity } from '../crud/entity-handlers.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { HttpError, plainError, withHint } from '../http/http-error.ts';
import { notKept } from './parameters.ts';

/** Maximum changes of a version that can be taken back: they are written one by one, with all checks of the Admin API. */
const maxChanges = 1000;
/** Conflicts that an answer names. */
const maxConflicts = 20;

/** An entity that somebody changed after the version. */
interface Conflict {
  readonly entity: string;
  readonly id: string;
  readonly label: string;
  /** The last version that changed it, and who made that; null: unknown. */
  readonly version: number | null;
  readonly actor: string | null;
}

interface UndoPreview {
  readonly plan: ConfigPlan;
  readonly conflicts: readonly Conflict[];
}

/** What `undoVersion` would do. Throws 404 when the changes of the version are not kept. */
export async function previewUndo(context: ApplyContext, version: number): Promise<UndoPreview> {
  return await prepare(context, version, () => context.store.rowsBetween(version, null));
}

/**
 * Takes back what a version changed: one transaction, and a version of its own. Throws 409 when that would take back what others have
 * changed since, and 403 as any write does.
 */
export function undoVersion(
  context: ApplyContext,
  admin: AdminContext,
  request: AdminRequest,
  version: number,
): Promise<ConfigPlan> {
  return admin.commit(
    request,
    async (writer) => {
      const { plan, conflicts } = await prepare(context, version, () => writer.rowsSince(version));
      if (conflicts.length > 0) throw conflict(conflicts.map(changedAgain), conflicts);
      await writeReturn(admin, writer, plan);
      refuseOthers(context, writer.changes, plan);
      return plan;
    },
    { action: 'undo', note: `of version ${version}` },
  );
}

async function prepare(
  { store, entities }: ApplyContext,
  version: number,
  readSince: () => Promise<readonly RowSince[]>,
): Promise<UndoPreview> {
  const kept = await store.getVersion(version);
  if (kept === null) throw notKept(version);
  const changes = await store.listVersionChanges(version, { after: -1, limit: maxChanges + 1 });
  // Of the oldest version that is kept, only who made it is known.
  if (changes.length === 0 && kept.created + kept.updated + kept.deleted > 0) throw notKept(version);
  if (changes.length > maxChanges) {
    const refusal = plainError(400, `version ${version} changed more than ${maxChanges} entities`);
    throw withHint(refusal, 'roll back to the version before it, which takes back all later versions as well');
  }
  const { plan, conflicts } = planUndo(changes, await readSince(), entities);
  const named = conflicts.slice(0, maxConflicts).map(async ({ entity, id, label }) => {
    const query = { entity, id, since: kept.createdAt + 1, order: 'desc', limit: 1 } as const;
    const [last] = await store.listVersions(query);
    return { entity, id, label, version: last?.version ?? null, actor: last?.actor ?? null };
  });
  return { plan, conflicts: await Promise.all(named) };
}

/** New rows before those that refer to them, and the reverse for what is deleted. */
async function writeReturn(admin: AdminContext, writer: StoreWriter, { changes }: ConfigPlan): Promise<void> {
  const of = (operation: EntityChange['operation']) => changes.filter((change) => change.operation === operation);
  for (const { entity, after } of of('create')) {
    if (after !== null) await writer.insert(entity, after, { keepCreatedAt: true });
  }
  for (const { entity, after } of of('update')) if (after !== null) await writer.update(entity, after);
  for (const { entity, label, before } of of('delete')) {
    if (before === null) continue;
    try {
      await removeEntity(admin, writer, admin.entity(entity), before);
    } catch (error) {
      if (!(error instanceof StoreError) || error.detail.kind !== 'referenced') throw error;
      throw conflict([`${entity} ${label} is in use by ${error.detail.by}`]);
    }
  }
}

/** What was added to a new entity since would be deleted with it. */
function refuseOthers({ entities }: ApplyContext, changes: readonly RowChange[], plan: ConfigPlan): void {
  const own = new Set(plan.changes.map(({ entity, id }) => `${entity}/${id}`));
  const others = changes.flatMap(({ entity, id, before, cause }) => {
    const definition = entities.byName(entity);
    if (cause !== 'cascade' || own.has(`${entity}/${id}`) || definition?.inConfig !== true) return [];
    return [
      `${entity} ${before === null ? id : entityLabel(entities, definition, before, () => null)} was added since`,
    ];
  });
  if (others.length > 0) throw conflict(others);
}

function changedAgain({ entity, label, actor }: Conflict): string {
  return `${entity} ${label} was changed again${actor === null || actor === '' ? '' : ` by ${actor}`}`;
}

function conflict(reasons: readonly string[], conflicts: readonly Conflict[] = []): HttpError {
  const message = `it cannot be taken back: ${reasons.slice(0, 3).join(', ')}${reasons.length > 3 ? ', and others' : ''}`;
  return new HttpError(409, { message, conflicts });
}
