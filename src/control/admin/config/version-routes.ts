import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { ApplyContext } from '../../declarative/apply/apply-config.ts';
import { planReturn } from '../../declarative/apply/rollback-config.ts';
import type { ConfigVersion, VersionQuery } from '../../store/history.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { notFound } from '../http/http-error.ts';
import { pagingNames, refuseUnknown } from '../lists/known-parameters.ts';
import { invalidOptions } from '../lists/list-errors.ts';
import { type ListSource, readListPage } from '../lists/list-page.ts';
import { readInstant, readListRequest } from '../lists/list-request.ts';
import { changesLimit, changesParameter, notKept, versionIn, versionOf } from './parameters.ts';
import { changesAnswer, countsOf, shownVersionChanges } from './shown-plan.ts';

/** Maximum changes of one version in an answer. */
const maxChanges = 1000;
const defaultChanges = 100;

const filters = [
  { name: 'actor', description: 'Only versions that this actor made.' },
  { name: 'entity', description: 'Only versions that changed entities of this kind: `routes`.' },
  { name: 'id', description: 'Only versions that changed the entity of this id.' },
  {
    name: 'since',
    description: 'Only versions from this ISO 8601 timestamp on.',
    schema: { type: 'string', format: 'date-time' },
  },
];

/** `/config/versions`: what the config was after each write. */
export function versionRoutes(context: ApplyContext): readonly AdminRoute[] {
  return [
    {
      path: '/config/versions',
      tag: 'config',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => list(context, request),
          notes: {
            summary: 'The versions of the config, newest first',
            answer: 'list',
            entity: 'config_versions',
            queryParameters: parametersOf(context.entities),
          },
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
      path: '/config/versions/{config_versions}/diff',
      tag: 'config',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => compare(context, request),
          notes: {
            summary: 'What differs between two versions of the config, without secrets',
            answer: 'object',
            queryParameters: [
              {
                name: 'against',
                description:
                  'The other version; the answer has what leads from it to the version of the path. Default: the current config.',
                schema: { type: 'integer', minimum: 0 },
              },
              changesParameter,
            ],
          },
        },
      },
    },
  ];
}

async function list({ store, entities }: ApplyContext, request: AdminRequest): Promise<Answer> {
  refuseUnknown(request.query, [...filters.map(({ name }) => name), ...pagingNames]);
  const { query, given } = readFilters(request, entities);
  const source: ListSource<ConfigVersion> = {
    kongDirection: 'desc',
    read: (page) => store.listVersions({ ...query, ...page }),
    position: ({ createdAt, version }) => ({ createdAt, id: String(version) }),
    present: async (versions) => versions.map(shown),
    async find(id) {
      const version = await store.getVersion(versionIn(id) ?? -1);
      return version === null ? null : { createdAt: version.createdAt, id };
    },
  };
  const links = { path: request.path, tags: undefined, nested: false, filters: given };
  return ok(await readListPage(source, readListRequest(request.query), links));
}

function parametersOf(entities: EntityRegistry) {
  return filters.map((filter) =>
    filter.name === 'entity' ? { ...filter, schema: { type: 'string', enum: kindsOf(entities) } } : filter,
  );
}

/** The filters as the store takes them, and as they were given. */
function readFilters(
  { query }: AdminRequest,
  entities: EntityRegistry,
): {
  readonly query: Omit<VersionQuery, 'limit'>;
  readonly given: readonly (readonly [name: string, value: string])[];
} {
  const given = filters.flatMap(({ name }) => {
    const value = query.first(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const { actor, entity, id, since } = Object.fromEntries(given);
  const kind = entity === undefined ? undefined : entities.byName(entity);
  if (entity !== undefined && kind?.inConfig !== true) {
    throw invalidOptions({ entity: `'${entity}' is none of ${kindsOf(entities).join(', ')}` });
  }
  const instant = since === undefined ? undefined : readInstant(since);
  if (instant === null) throw invalidOptions({ since: 'must be an ISO 8601 timestamp' });
  return {
    query: {
      ...(actor === undefined ? {} : { actor }),
      ...(kind === undefined ? {} : { entity: kind.name }),
      ...(id === undefined ? {} : { id: id.toLowerCase() }),
      ...(instant === undefined ? {} : { since: instant }),
    },
    given,
  };
}

function kindsOf({ definitions }: EntityRegistry): readonly string[] {
  return definitions.filter(({ inConfig }) => inConfig).map(({ name }) => name);
}

async function compare({ store, entities }: ApplyContext, request: AdminRequest): Promise<Answer> {
  refuseUnknown(request.query, ['against', 'changes']);
  const limit = changesLimit(request.query);
  const to = versionOf(request);
  const text = request.query.first('against');
  const from = text === undefined ? null : versionIn(text);
  if (text !== undefined && from === null) throw invalidOptions({ against: 'must be a version' });
  for (const version of [to, from]) {
    if (version !== null && (await store.getVersion(version)) === null) throw notKept(version);
  }
  const { changes } = planReturn(await store.rowsBetween(to, from), entities);
  const head = { version: to, against: from, ...countsOf(changes), truncated: changes.length > limit };
  return changesAnswer(entities, head, changes.slice(0, limit));
}

async function read({ store, entities }: ApplyContext, request: AdminRequest): Promise<Answer> {
  const after = readInteger(request, 'after', -1, -1, Number.MAX_SAFE_INTEGER);
  const limit = readInteger(request, 'changes', defaultChanges, 1, maxChanges);
  const version = await store.getVersion(versionOf(request));
  if (version === null) throw notFound();
  const found = await store.listVersionChanges(version.version, { after, limit: limit + 1 });
  return ok({
    ...shown(version),
    changes: await shownVersionChanges(store, entities, found.slice(0, limit)),
    truncated: found.length > limit,
  });
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

function readInteger({ query }: AdminRequest, name: string, otherwise: number, least: number, most: number): number {
  const text = query.first(name);
  if (text === undefined) return otherwise;
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw invalidOptions({ [name]: 'is not an integer in its range' });
  return value;
}
