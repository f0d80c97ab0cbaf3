import { applyConfig } from '../../declarative/apply/apply-config.ts';
import { replaceAll } from '../../declarative/apply/plan-config.ts';
import { previewRollback } from '../../declarative/apply/rollback-config.ts';
import type { ConfigDocument } from '../../declarative/contract.ts';
import { declareConfig } from '../../declarative/declare/declare-config.ts';
import type { TrafficDesk } from '../../traffic/traffic-desk.ts';
import { RowChanges } from '../../what-if/row-changes.ts';
import { DryRunFailed, type WhatIf, type WhatIfAnswer } from '../../what-if/what-if.ts';
import { requireAccess } from '../access/require-access.ts';
import { readDocument } from '../config/document-body.ts';
import { invalidConfig } from '../config/invalid-config.ts';
import { notKept } from '../config/parameters.ts';
import type { AdminDependencies, AdminOptions } from '../contract.ts';
import { createHints } from '../hints/hints.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { HttpError, plainError } from '../http/http-error.ts';
import { refusing } from '../routes/static-responses.ts';
import { readWhatIf, type WhatIfRequest } from './read-what-if.ts';
import { type TryOptions, tryChanges } from './tried-changes.ts';

/** Seconds after which a client may try again. */
const retryAfter = 5;

/** `POST /what-if`: what a changed config would do to the recorded requests. */
export function whatIfRoutes(
  deps: AdminDependencies,
  options: AdminOptions,
  entities: Pick<TryOptions, 'context' | 'routesOver'>,
): readonly AdminRoute[] {
  const { traffic, whatIf } = deps;
  if (traffic === null || whatIf === null) {
    return [refusing('/what-if', ['POST'], 'this node is a control plane and carries no traffic', 'edit')];
  }
  const { log, catalog } = options;
  const hints = createHints({ entities: options.entities, pluginNames: catalog.names(), log });
  const change = (request: AdminRequest, asked: WhatIfRequest): Promise<RowChanges> => {
    if (asked.changes !== null) return tryChanges({ ...entities, hints }, request, asked.changes);
    if (asked.version !== null) return rolledBack(deps, options, request, asked.version);
    return planned(deps, options, request, asked.config);
  };
  return [
    {
      path: '/what-if',
      tag: 'traffic',
      operations: {
        POST: {
          access: 'edit',
          readOnly: true,
          handle: (request) => answer(traffic, whatIf, request, change),
          notes: {
            summary: 'What a change of the config would do to the last requests; nothing is changed',
            answer: 'entity',
            entity: 'what_if',
            bodyEntity: 'what_if_request',
            takesBody: true,
            otherStatuses: [404, 405, 409, 413, 503],
          },
        },
      },
    },
  ];
}

async function answer(
  traffic: TrafficDesk,
  whatIf: WhatIf,
  request: AdminRequest,
  change: (request: AdminRequest, asked: WhatIfRequest) => Promise<RowChanges>,
): Promise<Answer> {
  const asked = readWhatIf(request.body.value);
  await traffic.look();
  const records = traffic.repeatable(asked.requests);
  let compared: WhatIfAnswer | null;
  try {
    compared = await whatIf.compare(request.caller.actor.name, () => change(request, asked), records);
  } catch (error) {
    throw error instanceof DryRunFailed ? plainError(503, `the dry run failed: ${error.message}`) : error;
  }
  if (compared === null) {
    const body = { message: 'other dry runs are waiting already' };
    throw new HttpError(503, body, { 'Retry-After': String(retryAfter) });
  }
  const { replayed, ended, undecided, ...counts } = compared;
  const times = records.map(({ entry }) => entry.at).sort();
  const unsure = undecided.reduce((sum, { count }) => sum + count, 0);
  return ok({
    requests: { kept: records.length, replayed, undecided: unsure, from: times[0] ?? null, to: times.at(-1) ?? null },
    ...counts,
    undecided,
    note: noteOf(records.length, replayed, ended),
  });
}

function noteOf(kept: number, replayed: number, ended: WhatIfAnswer['ended']): string | null {
  if (kept === 0) return nothingKept;
  if (replayed === kept) return null;
  const why = ended === 'memory' ? 'the dry run used up its memory' : 'the time for the dry run was over';
  return `${replayed} of ${kept} requests were repeated: ${why}.`;
}

const nothingKept =
  'No request has been recorded yet. The recorder is on from now: wait until there were some requests, and ask again. ' +
  "The setting 'traffic_recorder' keeps it on.";

/** The rows that a rollback would leave. */
async function rolledBack(
  { store }: AdminDependencies,
  { entities }: AdminOptions,
  { caller }: AdminRequest,
  version: number,
): Promise<RowChanges> {
  requireAccess(caller, { access: 'admin' }, 'POST', '/config/versions/{config_versions}/rollback');
  const plan = await previewRollback({ store, entities }, version);
  if (plan === null) throw notKept(version);
  const changes = new RowChanges();
  for (const { entity, id, after } of plan.changes) changes.set(entity, id, after);
  return changes;
}

/** The rows that a declarative document would leave, as `POST /config/apply` makes them. */
async function planned(
  { store, publisher, settings }: AdminDependencies,
  { entities }: AdminOptions,
  { caller }: AdminRequest,
  config: string | Readonly<Record<string, unknown>>,
): Promise<RowChanges> {
  requireAccess(caller, { access: 'admin' }, 'POST', '/config/apply');
  const document: ConfigDocument = readDocument(() =>
    typeof config === 'string' ? { kind: 'text', text: config } : { kind: 'json', text: '', content: config },
  );
  const { plan, problems } = await applyConfig(
    { store, publisher, entities },
    {
      declare: (current, now) => declareConfig(document, { entities, hashKeys: settings.hashKeys, current, now }),
      plan: { ...replaceAll, selectTags: [...(document.selectTags ?? [])] },
      dryRun: true,
    },
  );
  if (problems.length > 0) throw invalidConfig(problems, false);
  const changes = new RowChanges();
  for (const { entity, id, after } of plan.changes) changes.set(entity, id, after);
  return changes;
}
