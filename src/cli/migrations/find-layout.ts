import { existsSync, readFileSync } from 'node:fs';
import { type Migrations, openMigrations } from '../../control/store/open-migrations.ts';
import { StoreError } from '../../control/store/store.ts';
import { storeFileOf } from '../../shared/settings/kinds/prefix.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { loadEntities } from '../config/load-entities.ts';
import { runningNode } from '../node/pid-file.ts';
import { secondsOption } from '../node/running-node.ts';
import { settingsOf } from '../settings-of.ts';

export interface Layout {
  readonly migrations: Migrations;
  /** The prefix, if a node runs there. */
  readonly node: string | null;
}

/** The layout of the database of the settings. Its errors are one line for the terminal. */
export async function findLayout(context: CommandContext): Promise<Layout> {
  const { settings } = settingsOf(context);
  const { role, database, prefix, pg, trustedCertificates } = settings;
  if (role === 'data_plane') throw new CliError('a data plane has no database: use the settings of a control plane');
  if (database === 'off') throw new CliError('a node with database = off has no migrations');
  const { definitions } = await loadEntities(settings, context.cwd);
  const node = runningNode(prefix) === null ? null : prefix;
  if (database === 'sqlite') {
    const file = storeFileOf(prefix, database);
    // Opening it would create it.
    if (!existsSync(file) && context.arguments.positionals[0] !== 'bootstrap') {
      return { migrations: absent, node };
    }
    return { migrations: readable(await openMigrations({ kind: 'sqlite', file, definitions })), node };
  }
  const ca = trustedCertificates === null ? {} : { ca: readFileSync(trustedCertificates, 'utf8') };
  const server = { ...pg, timeout: secondsOption(context, 'db-timeout', pg.timeout / 1000) };
  return { migrations: readable(await openMigrations({ kind: 'postgres', pg: server, ...ca, definitions })), node };
}

/** A store that was never created. */
const absent: Migrations = {
  state: async () => null,
  up: async () => undefined,
  finish: async () => [],
  reset: async () => false,
  nodes: async () => ({ now: 0, nodes: [] }),
  close: async () => undefined,
};

function readable(migrations: Migrations): Migrations {
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof StoreError ? new CliError(error.message) : error;
    }
  };
  return {
    state: () => guarded(() => migrations.state()),
    up: () => guarded(() => migrations.up()),
    finish: () => guarded(() => migrations.finish()),
    reset: () => guarded(() => migrations.reset()),
    nodes: () => guarded(() => migrations.nodes()),
    close: () => migrations.close(),
  };
}
