import { type AppliedConfig, type ApplyContext, applyConfig } from '../../declarative/apply/apply-config.ts';
import type { PlanOptions } from '../../declarative/apply/plan-config.ts';
import type { ConfigDocument } from '../../declarative/contract.ts';
import { declareConfig } from '../../declarative/declare/declare-config.ts';
import { requireStillSignedIn } from '../access/still-signed-in.ts';
import type { AdminDependencies, AdminOptions } from '../contract.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import type { AdminRequest, AdminRoute, Answer, Operation } from '../http/admin-route.ts';
import type { Query } from '../http/query.ts';
import { refuseUnknown } from '../lists/known-parameters.ts';
import { invalidOptions } from '../lists/list-errors.ts';
import { ApplyGate } from './apply-gate.ts';
import { readDocumentBody } from './document-body.ts';
import { exportRoute } from './export-route.ts';
import { invalidConfig } from './invalid-config.ts';
import { changesLimit, changesParameter, dryRunParameter, readSwitch } from './parameters.ts';
import { changesAnswer, countsOf } from './shown-plan.ts';
import { takeBackRoutes } from './take-back-routes.ts';
import { versionRoutes } from './version-routes.ts';

/** Maximum size of a document in bytes. */
const maxDocument = 256 * 2 ** 20;

const planParameters = [
  {
    name: 'mode',
    description: '`replace` (default): what the document does not contain is deleted. `merge`: nothing is deleted.',
    schema: { type: 'string', enum: ['replace', 'merge'] },
  },
  {
    name: 'select_tag',
    description:
      'Only entities with this tag are replaced or deleted, and all of the document receive it. Repeated: with all of these tags.',
  },
  changesParameter,
  {
    name: 'flatten_errors',
    description: '1: report errors by entity too, in `flattened_errors`.',
    schema: { type: 'string', enum: ['1'] },
  },
];

/** `/config/*` of a node with a database: a whole config at once, and its versions. */
export function databaseConfigRoutes(
  deps: AdminDependencies,
  options: AdminOptions,
  admin: AdminContext,
): readonly AdminRoute[] {
  const { store, publisher, settings } = deps;
  const { entities } = options;
  const context: ApplyContext = { store, publisher, entities };
  const gate = new ApplyGate();
  const common = { tag: 'config', maxBodySize: maxDocument, admit: gate.admit };
  const notes = {
    answer: 'object' as const,
    takesBody: true,
    otherStatuses: [413, 415, 429],
    queryParameters: planParameters,
  };

  const answer = (request: AdminRequest, isDryRun: boolean): Promise<Answer> =>
    gate.run(async () => {
      const document = readDocumentBody(request.raw);
      const plan = planOptions(request.query, document);
      const limit = changesLimit(request.query);
      const applied = await applyConfig(context, {
        declare: (current, now) => declareConfig(document, { entities, hashKeys: settings.hashKeys, current, now }),
        plan,
        dryRun: isDryRun,
        record: async (writer) => {
          await requireStillSignedIn(writer, request.caller);
          await request.trail.record(writer, { action: 'apply', note: noteOf(plan) });
        },
      });
      if (applied.version === null) request.trail.settled = true;
      if (applied.problems.length > 0)
        throw invalidConfig(applied.problems, request.query.first('flatten_errors') === '1');
      return shown(applied, isDryRun, limit, options);
    });

  const apply: Operation = {
    access: 'admin',
    handle: (request) => {
      refuseUnknown(
        request.query,
        [...planParameters, dryRunParameter].map(({ name }) => name),
      );
      return answer(request, readSwitch(request.query, 'dry_run'));
    },
    rawBody: true,
    notes: {
      ...notes,
      summary: 'Make the config that of a declarative document, in one transaction',
      queryParameters: [dryRunParameter, ...planParameters],
    },
  };
  const diff: Operation = {
    access: 'admin',
    handle: (request) => {
      refuseUnknown(
        request.query,
        planParameters.map(({ name }) => name),
      );
      return answer(request, true);
    },
    rawBody: true,
    readOnly: true,
    notes: { ...notes, summary: 'What a declarative document would change' },
  };
  return [
    { path: '/config/apply', ...common, operations: { POST: apply } },
    { path: '/config/diff', ...common, operations: { POST: diff } },
    exportRoute(context),
    ...versionRoutes(context),
    ...takeBackRoutes(context, admin),
  ];
}

function planOptions({ first, all }: Query, { selectTags }: ConfigDocument): PlanOptions {
  const mode = first('mode') ?? 'replace';
  if (mode !== 'replace' && mode !== 'merge') throw invalidOptions({ mode: "must be 'replace' or 'merge'" });
  return { mode, selectTags: [...new Set([...(selectTags ?? []), ...all('select_tag')])] };
}

const maxNote = 1024;

function noteOf({ mode, selectTags }: PlanOptions): string {
  return `${mode}${selectTags.length === 0 ? '' : ` of ${selectTags.join(', ')}`}`.slice(0, maxNote);
}

function shown(
  { plan, version, hash }: AppliedConfig,
  isDryRun: boolean,
  limit: number,
  options: AdminOptions,
): Answer {
  const { changes, unchanged } = plan;
  const head = {
    version,
    dry_run: isDryRun,
    hash,
    ...countsOf(changes),
    unchanged,
    truncated: changes.length > limit,
  };
  return changesAnswer(options.entities, head, changes.slice(0, limit));
}
