import type { Row } from '../../../../shared/entities/entity.ts';
import { text } from '../../../../shared/entities/row-fields.ts';
import { presentRow } from '../../../../shared/entities/rows.ts';
import type { Settings } from '../../../../shared/settings/settings.ts';
import type { StoreReader } from '../../../store/store.ts';
import { issueToken, type TokenInput } from '../../../users/issue-token.ts';
import { presentToken } from '../../../users/present-token.ts';
import { requireAnotherAdmin } from '../../../users/require-another-admin.ts';
import type { AdminContext } from '../../crud/admin-context.ts';
import { deleteHandler, readHandler, segmentOf, updateHandler } from '../../crud/entity-handlers.ts';
import { create, list, one, remove, update } from '../../crud/entity-routes.ts';
import { idOf, needEntity, referenceOf } from '../../crud/find-entity.ts';
import { listEntities } from '../../crud/list-entities.ts';
import { insertEntity, readInput } from '../../crud/write-entity.ts';
import { invalidInput } from '../../errors.ts';
import { type AdminRequest, type AdminRoute, type Answer, noContent, ok } from '../../http/admin-route.ts';
import { notFound, plainError } from '../../http/http-error.ts';

/** Its settings may change with a reload. */
interface Configured {
  readonly settings: Settings;
}

/** `/admin-users`: who may use the Admin API, and with which tokens. */
export function adminUserRoutes(context: AdminContext, deps: Configured): readonly AdminRoute[] {
  const users = context.entity('admin_users');
  const guarded = withLastAdmin(context, deps);
  return [
    {
      path: '/admin-users',
      tag: 'admin_users',
      operations: {
        GET: {
          access: 'admin',
          handle: (request) => listEntities(context, users, request),
          notes: list('admin_users'),
        },
        POST: {
          access: 'admin',
          handle: (request) => createUser(context, deps, request),
          notes: {
            ...create('created_admin_user'),
            bodyEntity: 'admin_users',
            summary: 'Create an admin user. The answer to the first one contains a token, which is shown once',
          },
        },
      },
    },
    {
      path: '/admin-users/me',
      tag: 'admin_users',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => describeCaller(context, request),
          notes: { summary: 'Who sends this request, and what it may do', answer: 'object' },
        },
      },
    },
    {
      path: '/admin-users/{admin_users}',
      tag: 'admin_users',
      operations: {
        GET: {
          access: 'admin',
          handle: (request) => readHandler(context, users, request),
          notes: one('Read one of the admin_users', 'admin_users'),
        },
        PATCH: {
          access: 'admin',
          handle: (request) => updateHandler(guarded, users, request),
          notes: { ...update('admin_users'), otherStatuses: [409] },
        },
        DELETE: {
          access: 'admin',
          handle: (request) => deleteHandler(guarded, users, request),
          notes: {
            ...remove('admin_users'),
            summary: 'Delete one of the admin_users, and its tokens',
            otherStatuses: [409],
          },
        },
      },
    },
    ...tokenRoutes(context),
  ];
}

/** Every write of users ends with a check that somebody can still administer the gateway. */
function withLastAdmin(context: AdminContext, deps: Configured): AdminContext {
  return {
    ...context,
    commit: (request, work) =>
      context.commit(request, async (writer) => {
        const done = await work(writer);
        await requireAdmin(writer, deps);
        return done;
      }),
  };
}

/** The token of the setting is an admin that cannot be deleted. */
async function requireAdmin(writer: StoreReader, { settings }: Configured): Promise<void> {
  if (settings.adminToken === null) await requireAnotherAdmin(writer, (message) => plainError(409, message));
}

async function createUser(context: AdminContext, deps: Configured, request: AdminRequest): Promise<Answer> {
  const users = context.entity('admin_users');
  const input = readInput(users, request.body);
  const json = await context.commit(request, async (writer) => {
    const first = (await writer.list('admin_users', { limit: 1 })).length === 0;
    const created = await insertEntity(context, writer, users, input);
    await requireAdmin(writer, deps);
    // From now on requests must sign in, also those of the client that sends this one.
    if (!first || request.caller.actor.kind !== 'anonymous') return created;
    const issued = await issueToken(writer, context.entity('admin_tokens'), String(created['id']), {});
    return 'token' in issued ? { ...created, token: issued.token } : created;
  });
  return { status: 201, json };
}

async function describeCaller(context: AdminContext, { caller }: AdminRequest): Promise<Answer> {
  const { actor, role, tagPatterns, userId, tokenId } = caller;
  const users = context.entity('admin_users');
  const tokens = context.entity('admin_tokens');
  const user = userId === null ? null : await context.store.get('admin_users', userId);
  const token = tokenId === null ? null : await context.store.get('admin_tokens', tokenId);
  return ok({
    kind: actor.kind,
    name: actor.name,
    role,
    tag_patterns: role === 'edit' ? tagPatterns : null,
    user: user === null ? null : presentRow(users, user),
    token: token === null ? null : presentToken(tokens, token),
  });
}

function tokenRoutes(context: AdminContext): readonly AdminRoute[] {
  const tokens = context.entity('admin_tokens');
  const base = '/admin-users/{admin_users}/tokens';
  const show = async (rows: readonly Row[]) => rows.map((row) => presentToken(tokens, row));
  return [
    {
      path: base,
      tag: 'admin_users',
      operations: {
        GET: {
          access: 'admin',
          handle: async (request) => {
            const { id } = await needUser(context, context.store, request);
            return listEntities(context, tokens, request, { parent: { field: 'user', id }, show });
          },
          notes: list('issued_admin_token'),
        },
        POST: {
          access: 'admin',
          handle: (request) => createToken(context, request),
          notes: {
            ...create('issued_admin_token'),
            bodyEntity: 'new_admin_token',
            summary: 'Create a token of an admin user. The answer contains it, and nothing shows it again',
          },
        },
      },
    },
    {
      path: `${base}/{admin_tokens}`,
      tag: 'admin_users',
      // Somebody may put the token itself there.
      secretParams: ['admin_tokens'],
      operations: {
        GET: {
          access: 'admin',
          handle: async (request) => ok(presentToken(tokens, await needToken(context, context.store, request))),
          notes: one('Read one of the tokens of an admin user', 'issued_admin_token'),
        },
        DELETE: {
          access: 'admin',
          handle: async (request) => {
            await context.commit(request, async (writer) => {
              const { id } = await needToken(context, writer, request);
              await writer.delete('admin_tokens', id);
            });
            return noContent;
          },
          notes: { ...remove('admin_tokens'), summary: 'Revoke a token' },
        },
      },
    },
  ];
}

async function createToken(context: AdminContext, request: AdminRequest): Promise<Answer> {
  const tokens = context.entity('admin_tokens');
  const input = tokenInput(request);
  const json = await context.commit(request, async (writer) => {
    const user = await needUser(context, writer, request);
    const issued = await issueToken(writer, tokens, user.id, input);
    if (!('token' in issued)) throw invalidInput(issued.fields);
    return { ...presentToken(tokens, issued.row, writer.now), token: issued.token };
  });
  return { status: 201, json };
}

/** A client chooses neither the token nor the user. */
function tokenInput({ body }: AdminRequest): TokenInput {
  const unknown = Object.keys(body.value).filter((name) => name !== 'name' && name !== 'ttl');
  if (unknown.length > 0) throw invalidInput(Object.fromEntries(unknown.map((name) => [name, 'unknown field'])));
  const { name, ttl } = body.value;
  return { name, ttl: body.form && typeof ttl === 'string' && /^\d+$/.test(ttl) ? Number(ttl) : ttl };
}

function needUser(context: AdminContext, reader: StoreReader, request: AdminRequest): Promise<Row> {
  return needEntity(context, reader, context.entity('admin_users'), segmentOf(request, context.entity('admin_users')));
}

/** A token of the user, by id or by name. */
async function needToken(context: AdminContext, reader: StoreReader, request: AdminRequest): Promise<Row> {
  const user = await needUser(context, reader, request);
  const segment = request.params['admin_tokens'] ?? '';
  const id = idOf(segment);
  if (id !== null) {
    const row = await reader.get('admin_tokens', id);
    if (row !== null && referenceOf(row, 'user') === user.id) return row;
  } else {
    const rows = await reader.list('admin_tokens', { where: { user: user.id, name: segment }, limit: 1 });
    const [row] = rows;
    if (row !== undefined && text(row, 'name') === segment) return row;
  }
  throw notFound();
}
