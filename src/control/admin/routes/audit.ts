import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { AuditQuery, AuditRecord } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { notFound } from '../http/http-error.ts';
import { pagingNames, refuseUnknown } from '../lists/known-parameters.ts';
import { invalidOptions } from '../lists/list-errors.ts';
import { type ListSource, readListPage } from '../lists/list-page.ts';
import { readInstant, readListRequest } from '../lists/list-request.ts';

/** Filter arguments, and the column of each. */
const filters = {
  entity: 'entity',
  id: 'entityId',
  method: 'method',
  actor: 'actor',
  request_id: 'requestId',
} as const;

const parameters = [
  {
    name: 'entity',
    description: 'Only changes of entities of this kind: `routes`, `keyauth_credentials` or `key-auths`.',
  },
  { name: 'id', description: 'Only changes of the entity of this id.' },
  { name: 'method', description: 'Only requests with this method.' },
  {
    name: 'actor',
    description: 'Only what this actor did: the name of an admin user, `admin-token`, `anonymous`, `cli`.',
  },
  { name: 'request_id', description: 'Only what the request with this id did.' },
  {
    name: 'since',
    description: 'Only records from this ISO 8601 timestamp on.',
    schema: { type: 'string', format: 'date-time' },
  },
];

const known: readonly string[] = [...parameters.map(({ name }) => name), ...pagingNames];

/** Schema names, and the path names of those that have one. */
function kindsOf({ definitions }: EntityRegistry): readonly string[] {
  const kinds = definitions.flatMap(({ name, path }) => (path === null ? [name] : [name, path]));
  return [...new Set(kinds)];
}

/** `/audit`: who changed what, when and from where. */
export function auditRoutes(store: Store, entities: EntityRegistry): readonly AdminRoute[] {
  return [
    {
      path: '/audit',
      tag: 'audit',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => listRecords(store, entities, request),
          notes: {
            summary: 'Who changed what, newest first',
            answer: 'list',
            entity: 'audit_records',
            queryParameters: parameters.map((parameter) =>
              parameter.name === 'entity'
                ? { ...parameter, schema: { type: 'string', enum: kindsOf(entities) } }
                : parameter,
            ),
          },
        },
      },
    },
    {
      path: '/audit/{audit_records}',
      tag: 'audit',
      operations: {
        GET: {
          access: 'read',
          handle: async (request) => {
            const record = await store.getAudit(request.params['audit_records'] ?? '');
            if (record === null) throw notFound();
            return ok(shown(record));
          },
          notes: { summary: 'One record of who changed what', answer: 'entity', entity: 'audit_records' },
        },
      },
    },
  ];
}

async function listRecords(store: Store, entities: EntityRegistry, request: AdminRequest): Promise<Answer> {
  refuseUnknown(request.query, known);
  const chosen = readFilters(request, entities);
  const source: ListSource<AuditRecord> = {
    kongDirection: 'desc',
    read: (page) => store.listAudit({ ...chosen.query, ...page }),
    position: ({ createdAt, id }) => ({ createdAt, id }),
    present: async (records) => records.map(shown),
    async find(id) {
      const record = await store.getAudit(id);
      return record === null ? null : { createdAt: record.createdAt, id };
    },
  };
  const links = { path: request.path, tags: undefined, nested: false, filters: chosen.given };
  return ok(await readListPage(source, readListRequest(request.query), links));
}

interface Chosen {
  readonly query: Pick<AuditQuery, 'where' | 'since'>;
  readonly given: readonly (readonly [name: string, value: string])[];
}

function readFilters({ query }: AdminRequest, entities: EntityRegistry): Chosen {
  const where: Record<string, string> = {};
  const given: [string, string][] = [];
  for (const [name, field] of Object.entries(filters)) {
    const value = query.first(name);
    if (value === undefined) continue;
    where[field] = comparable(name, value, entities);
    given.push([name, value]);
  }
  const since = query.first('since');
  if (since === undefined) return { query: { where }, given };
  const instant = readInstant(since);
  if (instant === null) throw invalidOptions({ since: 'must be an ISO 8601 timestamp' });
  return { query: { where, since: instant }, given: [...given, ['since', since]] };
}

function comparable(filter: string, value: string, entities: EntityRegistry): string {
  if (filter === 'method') return value.toUpperCase();
  if (filter === 'id') return value.toLowerCase();
  if (filter !== 'entity') return value;
  const definition = entities.byName(value) ?? entities.byPath(value);
  if (definition !== undefined) return definition.name;
  const names = entities.definitions.map(({ name }) => name).join(', ');
  throw invalidOptions({ entity: `'${value}' is none of ${names}` });
}

/** In a fixed order, so that records read alike. */
function shown({ id, createdAt, method, entity, entityId, requestId, body }: AuditRecord): Record<string, unknown> {
  const { actor, operation, name = null, path, status, peer, client, ...rest } = body;
  return {
    id,
    at: new Date(createdAt).toISOString(),
    actor,
    operation,
    method,
    path,
    status,
    request_id: requestId,
    peer,
    client,
    entity,
    entity_id: entityId,
    name,
    ...rest,
  };
}
