import type { JsonObject } from '../../../../plugin-kit/json/index.ts';
import { OffThreadError, offThread } from '../../../../plugin-kit/runtime/index.ts';
import { maxApiDocument } from '../../../../shared/entities/apis.ts';
import type { PlanOptions } from '../../../apis/plan/plan-api.ts';
import type { PlannedImport } from '../../../apis/plan/plan-import.ts';
import { ApplyGate } from '../../config/apply-gate.ts';
import type { AdminContext } from '../../crud/admin-context.ts';
import { invalidInput } from '../../errors.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../../http/admin-route.ts';
import { HttpError } from '../../http/http-error.ts';
import { refuseUnknown } from '../../lists/known-parameters.ts';
import { invalidOptions } from '../../lists/list-errors.ts';
import { writeImport } from './write-import.ts';

/** Maximum bytes of a request: each character of a document may be escaped. */
const maxBody = 6 * maxApiDocument;
/** Milliseconds that the check of a document may take. */
const deadline = 20_000;

const plan = offThread<[string, PlanOptions], PlannedImport>(
  new URL('../../../apis/plan/plan-import.ts', import.meta.url),
  'planImport',
  { deadline },
);

/** `POST /apis/import`: creates or updates an API, its service, routes and plugins from an OpenAPI document, in one transaction. */
export function importApiRoute(context: AdminContext): AdminRoute {
  const gate = new ApplyGate();
  return {
    path: '/apis/import',
    tag: 'apis',
    maxBodySize: maxBody,
    admit: gate.admit,
    operations: {
      POST: {
        access: 'edit',
        handle: (request) => gate.run(() => imported(context, request)),
        notes: {
          summary: 'Create or update a service, its routes and plugins from an OpenAPI document, in one transaction',
          answer: 'entity',
          entity: 'api_import_result',
          bodyEntity: 'api_import',
          takesBody: true,
          otherStatuses: [409, 413, 415, 429],
          queryParameters: [
            {
              name: 'dry_run',
              description: '1: change nothing; answer with what would be written, after all checks.',
              schema: { type: 'string', enum: ['0', '1'] },
            },
          ],
        },
      },
    },
  };
}

async function imported(context: AdminContext, request: AdminRequest): Promise<Answer> {
  refuseUnknown(request.query, ['dry_run']);
  const isDryRun = readSwitch(request.query.first('dry_run') ?? '0');
  const input = readInput(request);
  const planned = await checkedPlan(input);
  if (!planned.ok) throw unusable(planned.place, planned.message);
  const { plan: entities, api, warnings } = planned;
  const own = { name: input.api ?? entities.service, fields: { ...api, ...tagsOf(input.options) } };
  // An audit record is about a change.
  if (isDryRun) request.trail.settled = true;
  const write = isDryRun ? context.rehearse : context.commit;
  const written = await write(request, (writer) => writeImport(context, writer, entities, own));
  const count = (operation: string): number => written.steps.filter((step) => step.operation === operation).length;
  return ok({
    dry_run: isDryRun,
    api: { id: written.steps.at(-1)?.id, name: own.name, title: api['title'] ?? null, version: api['version'] ?? null },
    created: count('create'),
    updated: count('update'),
    unchanged: count('unchanged'),
    changes: written.steps.map((step) => (step.entity === 'apis' ? withoutDocument(step) : step)),
    warnings: [...warnings, ...written.warnings],
  });
}

async function checkedPlan({ document, options }: Input): Promise<PlannedImport> {
  try {
    return await plan(document, options);
  } catch (error) {
    if (!(error instanceof OffThreadError)) throw error;
    throw unusable('', `the document could not be checked: ${error.message}`);
  }
}

interface Input {
  readonly document: string;
  /** Name of the API. Default: that of the service. */
  readonly api: string | null;
  readonly options: PlanOptions;
}

const fields: ReadonlySet<string> = new Set([
  ...['document', 'name', 'server', 'route_prefix', 'tags', 'validate', 'api'],
]);

function readInput({ body }: AdminRequest): Input {
  const { value, form } = body;
  const problems: Record<string, string> = {};
  for (const name of Object.keys(value)) if (!fields.has(name)) problems[name] = 'unknown field';
  const textOf = (name: string, max: number): string | null => {
    const given = value[name] ?? null;
    if (given === null) return null;
    if (typeof given !== 'string') problems[name] = 'expected a string';
    else if (given.length > max) problems[name] = `length must be at most ${max}`;
    else return given === '' ? null : given;
    return null;
  };
  const document = textOf('document', maxApiDocument);
  if (document === null) problems['document'] ??= 'required field missing';
  const tags = listOf(value['tags'], form);
  if (tags === null) problems['tags'] = 'expected an array of strings';
  const validate = form && typeof value['validate'] === 'string' ? value['validate'] === 'true' : value['validate'];
  if (validate !== undefined && validate !== null && typeof validate !== 'boolean') {
    problems['validate'] = 'expected a boolean';
  }
  const read: Input = {
    document: document ?? '',
    api: textOf('api', 256),
    options: {
      name: textOf('name', 256),
      server: textOf('server', 2048),
      routePrefix: textOf('route_prefix', 128) ?? '',
      tags: tags ?? [],
      validate: validate === true,
    },
  };
  if (Object.keys(problems).length > 0) throw invalidInput(problems);
  return read;
}

/** Null: it is no list of texts. */
function listOf(value: unknown, form: boolean): readonly string[] | null {
  if (value === undefined || value === null) return [];
  if (form && typeof value === 'string') return value.split(',').filter((tag) => tag !== '');
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : null;
}

function tagsOf({ tags }: PlanOptions): JsonObject {
  return tags.length === 0 ? {} : { tags: [...tags] };
}

function unusable(place: string, message: string): HttpError {
  const fieldMessage = `${place === '' ? '' : `${place}: `}${message}`;
  return new HttpError(400, {
    message: `the document cannot be imported: ${fieldMessage}`,
    fields: { document: fieldMessage },
    place,
  });
}

/** The client has just sent it. */
function withoutDocument<T extends { readonly fields: Readonly<Record<string, unknown>> }>(step: T) {
  const { document: _, ...rest } = step.fields;
  return { ...step, fields: rest };
}

function readSwitch(value: string): boolean {
  if (value !== '0' && value !== '1') throw invalidOptions({ dry_run: 'must be 0 or 1' });
  return value === '1';
}
