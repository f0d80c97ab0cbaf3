import type { ApplyContext } from '../../declarative/apply/apply-config.ts';
import { previewRollback, rollbackConfig } from '../../declarative/apply/rollback-config.ts';
import { requireStillSignedIn } from '../access/still-signed-in.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { refuseUnknown } from '../lists/known-parameters.ts';
import { changesLimit, changesParameter, dryRunParameter, notKept, readSwitch, versionOf } from './parameters.ts';
import { changesAnswer, countsOf } from './shown-plan.ts';
import { previewUndo, undoVersion } from './undo.ts';

const parameters = [dryRunParameter, changesParameter];

/** The ways back: the whole config to a version, or one version taken back while later ones stay. */
export function takeBackRoutes(context: ApplyContext, admin: AdminContext): readonly AdminRoute[] {
  const notes = { answer: 'object' as const, takesBody: false, queryParameters: parameters };
  return [
    {
      path: '/config/versions/{config_versions}/rollback',
      tag: 'config',
      operations: {
        POST: {
          access: 'admin',
          handle: (request) => rollback(context, request),
          notes: { ...notes, summary: 'Make the config what it was after a version' },
        },
      },
    },
    {
      path: '/config/versions/{config_versions}/undo',
      tag: 'config',
      operations: {
        POST: {
          access: 'edit',
          handle: (request) => undo(context, admin, request),
          notes: {
            ...notes,
            summary: 'Take back what one version changed, unless it was changed again since',
            otherStatuses: [409],
          },
        },
      },
    },
  ];
}

async function rollback(context: ApplyContext, request: AdminRequest): Promise<Answer> {
  const { isDryRun, limit } = readArguments(request);
  const version = versionOf(request);
  if (isDryRun) {
    request.trail.settled = true;
    const plan = await previewRollback(context, version);
    if (plan === null) throw notKept(version);
    const { changes } = plan;
    const head = { version: null, to: version, ...countsOf(changes), truncated: changes.length > limit };
    return changesAnswer(context.entities, head, changes.slice(0, limit));
  }
  const done = await rollbackConfig(context, version, async (writer) => {
    await requireStillSignedIn(writer, request.caller);
    await request.trail.record(writer, { action: 'rollback', note: `to version ${version}` });
  });
  if (done === null) throw notKept(version);
  if (done.version === null) request.trail.settled = true;
  else request.trail.version = done.version;
  return ok({ version: done.version, to: version, ...countsOf(done.plan.changes) });
}

async function undo(context: ApplyContext, admin: AdminContext, request: AdminRequest): Promise<Answer> {
  const { isDryRun, limit } = readArguments(request);
  const version = versionOf(request);
  if (isDryRun) {
    request.trail.settled = true;
    const { plan, conflicts } = await previewUndo(context, version);
    const head = {
      ...{ version: null, undone: version, ...countsOf(plan.changes), conflicts },
      truncated: plan.changes.length > limit,
    };
    return changesAnswer(context.entities, head, plan.changes.slice(0, limit));
  }
  const plan = await undoVersion(context, admin, request, version);
  if (plan.changes.length === 0) request.trail.settled = true;
  return ok({ version: request.trail.version, undone: version, ...countsOf(plan.changes) });
}

function readArguments({ query }: AdminRequest): { readonly isDryRun: boolean; readonly limit: number } {
  refuseUnknown(
    query,
    parameters.map(({ name }) => name),
  );
  return { isDryRun: readSwitch(query, 'dry_run'), limit: changesLimit(query) };
}
