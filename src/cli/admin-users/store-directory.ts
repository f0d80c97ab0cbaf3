import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { AuditTrail } from '../../control/admin/audit/audit-trail.ts';
import { cliActor } from '../../control/admin/audit/origin.ts';
import { createStore } from '../../control/store/create-store.ts';
import { type Store, StoreError, type StoreWriter } from '../../control/store/store.ts';
import { issueToken } from '../../control/users/issue-token.ts';
import { presentToken } from '../../control/users/present-token.ts';
import { requireAnotherAdmin } from '../../control/users/require-another-admin.ts';
import { adminTokens, adminUsers } from '../../shared/entities/admin-users.ts';
import type { Row } from '../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../shared/entities/registry.ts';
import { foreignId, text, texts } from '../../shared/entities/row-fields.ts';
import { buildRow } from '../../shared/entities/rows.ts';
import type { ErrorTree } from '../../shared/schema/validate.ts';
import { violationMessage } from '../../shared/schema/violation-message.ts';
import { storeFileOf } from '../../shared/settings/kinds/prefix.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { CliError } from '../cli-error.ts';
import type { NewToken, ShownToken, ShownUser, UserDirectory } from './directory.ts';

const definitions = [adminUsers, adminTokens];

/** The entities that the commands write. */
const entities: EntityRegistry = {
  definitions,
  byName: (name) => definitions.find((definition) => definition.name === name),
  byPath: () => undefined,
};

/**
 * Admin users in the store itself. It needs no token: who can read and write the store may do everything. A node that runs on the store
 * sees each change with the next request.
 */
export async function storeDirectory(settings: Settings, command: string): Promise<UserDirectory> {
  const store = await openStore(settings);

  /** One transaction with its audit records. */
  async function write<T>(work: (writer: StoreWriter) => Promise<T>): Promise<T> {
    const origin = { actor: cliActor, peer: '', client: '', requestId: randomUUID() };
    const trail = new AuditTrail(
      { origin, method: 'CLI', path: command, status: 0 },
      settings.audit.enabled ? entities : null,
    );
    const { result } = await store.write(async (writer) => {
      const done = await work(writer);
      if (settings.adminToken === null) await requireAnotherAdmin(writer, (message) => new CliError(message));
      await trail.record(writer);
      return done;
    });
    return result;
  }

  return {
    async list() {
      const tokens = await store.list('admin_tokens', { limit: maxRows });
      const users = await store.list('admin_users', { limit: maxRows });
      return users.map((user) => shownUser(user, tokens));
    },
    create: (user, withToken) =>
      readable(() =>
        write(async (writer) => {
          const built = buildRow(adminUsers, { ...user }, { now: writer.now });
          if (!built.ok) throw invalid(built.error.fields);
          const row = await writer.insert('admin_users', built.row);
          return withToken ? newToken(writer, row.id, { name: null, ttl: null }) : null;
        }),
      ),
    issue: (name, token) =>
      readable(() => write(async (writer) => newToken(writer, (await needUser(writer, name)).id, token))),
    revoke: (name, token) =>
      write(async (writer) => {
        const user = await needUser(writer, name);
        const rows = await writer.list('admin_tokens', { where: { user: user.id }, limit: maxRows });
        const row = rows.find((one) => one.id === token || text(one, 'name') === token);
        if (row === undefined) throw new CliError(`'${name}' has no token '${token}'`);
        await writer.delete('admin_tokens', row.id);
      }),
    delete: (name) =>
      write(async (writer) => {
        await writer.delete('admin_users', (await needUser(writer, name)).id);
      }),
    close: () => store.close(),
  };
}

const maxRows = 10_000;

async function openStore(settings: Settings): Promise<Store> {
  const store = await createStore({ ...(await placeOf(settings)), definitions });
  try {
    await store.migrate();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function placeOf({ role, database, prefix, pg, trustedCertificates }: Settings) {
  if (role === 'data_plane') throw new CliError('a data plane has no admin users: run this command on a control plane');
  if (database === 'postgres') {
    const ca = trustedCertificates === null ? {} : { ca: readFileSync(trustedCertificates, 'utf8') };
    return { kind: 'postgres', pg, ...ca } as const;
  }
  // A misspelt prefix would otherwise get a new store, and its users would sign in nowhere.
  if (!existsSync(prefix)) throw new CliError(`there is no node in ${prefix}: pass its directory with --prefix`);
  return { kind: 'sqlite', file: storeFileOf(prefix, database) } as const;
}

async function needUser(writer: StoreWriter, name: string): Promise<Row> {
  const row = await writer.findBy('admin_users', 'name', name);
  if (row === null) throw new CliError(`there is no admin user '${name}'`);
  return row;
}

async function newToken(writer: StoreWriter, user: string, token: NewToken): Promise<string> {
  const issued = await issueToken(writer, adminTokens, user, token);
  if (!('token' in issued)) throw invalid(issued.fields);
  return issued.token;
}

function shownUser(user: Row, tokens: readonly Row[]): ShownUser {
  return {
    name: text(user, 'name') ?? user.id,
    role: text(user, 'role') ?? '',
    tag_patterns: texts(user, 'tag_patterns'),
    certificate_name: text(user, 'certificate_name'),
    tokens: tokens
      .filter((token) => foreignId(token, 'user') === user.id)
      .map((token) => presentToken(adminTokens, token) as unknown as ShownToken),
  };
}

function invalid(fields: ErrorTree): CliError {
  return new CliError(violationMessage(fields));
}

/** A conflict of unique values in one line. */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError) || error.detail.kind !== 'unique') throw error;
    const { user: _, ...fields } = error.detail.fields;
    throw new CliError(`it exists already: ${Object.values(fields).join(', ')}`);
  }
}
