import type { ApplyContext } from '../../declarative/apply/apply-config.ts';
import { rollbackConfig } from '../../declarative/apply/rollback-config.ts';
import type { ConfigVersion } from '../../store/history.ts';
import { requireStillSignedIn } from '../access/still-signed-in.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { notFound, plainError } from '../http/http-error.ts';
import { pagingNames, refuseUnknown } from '../lists/known-parameters.ts';
import { invalidOptions } from '../lists/list-errors.ts';
import { type ListSource, readListPage } from '../lists/list-page.ts';
import { readListRequest } from '../lists/list-request.ts';
import { countsOf, shownVersionChange } from './shown-plan.ts';

/** Maximum changes of one version in an answer. */
const maxChanges = 1000;
const defaultChanges = 100;

/** `/config/versions`: what the config was after each write, and the way back. */
export function versionRoutes(context: ApplyContext): readonly AdminRoute[] {
  return [
    {
      path: '/config/versions',
      tag: 'config',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => list(context, request),
          notes: { summary: 'The versions of the config, newest first', answer: 'list', entity: 'config_versions' },
        },
      },
    },
    {
      path: '/config/versions/{config_versions}',
      tag: 'config',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => read(context, request),
          notes: {
            summary: 'What a version of the config changed, without secrets',
            answer: 'entity',
            entity: 'config_versions',
            queryParameters: [
              {
                name: 'after',
                description: 'Only changes after the one with this `seq`.',
                schema: { type: 'integer', minimum: -1 },
              },
              {
                name: 'changes',
                description: 'Maximum number of changes in the answer. Default 100.',
                schema: { type: 'integer', minimum: 1, maximum: maxChanges },
              },
            ],
          },
        },
      },
    },
    {
      path: '/config/versions/{config_versions}/rollback',
      tag: 'config',
      operations: {
        POST: {
          access: 'admin',
          handle: (request) => rollback(context, request),
          notes: {
            summary: 'Make the config what it was after a version',
            answer: 'object',
            takesBody: false,
          },
        },
      },
    },
  ];
}

async function list({ store }: ApplyContext, request: AdminRequest): Promise<Answer> {
  refuseUnknown(request.query, pagingNames);
  const source: ListSource<ConfigVersion> = {
    kongDirection: 'desc',
    read: (page) => store.listVersions(page),
    position: ({ createdAt, version }) => ({ createdAt, id: String(version) }),
    present: async (versions) => versions.map(shown),
    async find(id) {
      const version = await store.getVersion(versionIn(id) ?? -1);
      return version === null ? null : { createdAt: version.createdAt, id };
    },
  };
  const links = { path: request.path, tags: undefined, nested: false };
  return ok(await readListPage(source, readListRequest(request.query), links));
}

async function read({ store, entities }: ApplyContext, request: AdminRequest): Promise<Answer> {
  const after = readInteger(request, 'after', -1, -1, Number.MAX_SAFE_INTEGER);
  const limit = readInteger(request, 'changes', defaultChanges, 1, maxChanges);
  const version = await store.getVersion(versionOf(request));
  if (version === null) throw notFound();
  const found = await store.listVersionChanges(version.version, { after, limit: limit + 1 });
  return ok({
    ...shown(version),
    changes: found.slice(0, limit).map((change) => ({ seq: change.seq, ...shownVersionChange(entities, change) })),
    truncated: found.length > limit,
  });
}

async function rollback(context: ApplyContext, request: AdminRequest): Promise<Answer> {
  const version = versionOf(request);
  const done = await rollbackConfig(context, version, async (writer) => {
    await requireStillSignedIn(writer, request.caller);
    await request.trail.record(writer, { action: 'rollback', note: `to version ${version}` });
  });
  if (done === null) throw plainError(404, `version ${version} of the config is not kept`);
  if (done.version === null) request.trail.settled = true;
  return ok({ version: done.version, to: version, ...countsOf(done.plan.changes) });
}

function shown({ version, createdAt, actor, action, note, created, updated, deleted }: ConfigVersion): {
  readonly [name: string]: unknown;
} {
  return {
    version,
    at: new Date(createdAt).toISOString(),
    actor: actor === '' ? null : actor,
    action,
    note,
    created,
    updated,
    deleted,
  };
}

function versionOf(request: AdminRequest): number {
  const version = versionIn(request.params['config_versions'] ?? '');
  if (version === null) throw notFound();
  return version;
}

function versionIn(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function readInteger({ query }: AdminRequest, name: string, otherwise: number, least: number, most: number): number {
  const text = query.first(name);
  if (text === undefined) return otherwise;
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw invalidOptions({ [name]: 'is not an integer in its range' });
  return value;
}
