import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  postgresSettings,
  skipWithoutPostgres,
  startPostgres,
  type TestPostgres,
} from '../../../test/support/postgres.ts';
import { createStore } from '../../control/store/create-store.ts';
import type { StoredNode } from '../../control/store/nodes.ts';
import { openMigrations } from '../../control/store/open-migrations.ts';
import type { Migration } from '../../control/store/sql/migrations/migration.ts';
import { laterMigrations } from '../../control/store/sql/migrations/migrations.ts';
import { defineTestEntity } from '../../control/store/store.fixture.ts';
import { version } from '../../version.ts';
import { type CommandResult, runCommand } from '../testing/run-command.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluicegate-migrations-'));
after(() => rmSync(directory, { recursive: true, force: true }));

describe('migrations of a store in SQLite', () => {
  const prefix = join(directory, 'node');
  const run = (...args: readonly string[]): Promise<CommandResult> =>
    runCommand(directory, 'migrations', ...args, '-p', prefix);

  it('has the exit codes of Kong', async () => {
    assert.equal((await run('list')).code, 3);
    assert.equal(JSON.parse((await run('status')).output).needs_bootstrap, true);
    const early = await run('up');
    assert.deepEqual([early.code, early.output], [1, '']);
    assert.match(early.errors, /needs bootstrapping; run 'sluicegate migrations bootstrap'/);
    const first = await run('bootstrap');
    assert.equal(first.code, 0, first.errors);
    assert.match(first.output, /0001-bookkeeping \(executed\)[\s\S]*Database is up-to-date$/);
    assert.match((await run('bootstrap')).output, /^Database already bootstrapped$/);
    assert.match((await run('up')).output, /^Database is already up-to-date$/);
    assert.match((await run('finish')).output, /^No pending migrations to finish$/);
    const list = await run('list');
    assert.equal(list.code, 0, list.output);
    assert.match(list.output, /^Executed migrations:\n {2}0001-bookkeeping\n/);
    assert.equal((await run('list', '-q')).output, '');
  });

  it('deletes a store only with --yes', async () => {
    assert.match((await run('reset')).errors, /deletes the config, all credentials and the history; pass --yes/);
    assert.equal((await run('list')).code, 0);
    assert.match((await run('reset', '--yes')).output, /^Database successfully reset$/);
    assert.equal((await run('list')).code, 3);
  });

  it('refuses an unknown action, and a node without a database', async () => {
    assert.match((await run('sideways')).errors, /unknown action 'sideways'; known are: bootstrap, up, finish/);
    assert.match((await run('list', '--database', 'off')).errors, /has no migrations/);
    const certificate = ['--cluster-cert', 'a', '--cluster-cert-key', 'b'];
    assert.match((await run('list', '--role', 'data_plane', ...certificate)).errors, /use the settings of a control/);
  });
});

const skip = skipWithoutPostgres();

describe('migrations of a store in PostgreSQL', { skip }, () => {
  let server: TestPostgres;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());

  const step: Migration = { name: '9001-step', up: async () => undefined, finish: async () => undefined };

  function run(...args: readonly string[]): Promise<CommandResult> {
    const { host, port, user, password, database } = server;
    const settings = { host, port, user, password, database };
    const flags = Object.entries(settings).flatMap(([name, value]) => [`--pg-${name}`, String(value)]);
    return runCommand(directory, 'migrations', ...args, '--database', 'postgres', ...flags);
  }

  /** Stores of the next version, without its entities. */
  const options = () => ({
    kind: 'postgres' as const,
    pg: postgresSettings(server),
    definitions: [],
    later: [...laterMigrations, step],
  });

  it('shows new steps, and those of a later version', async () => {
    assert.equal((await run('list')).code, 3);
    assert.equal((await run('bootstrap')).code, 0);
    const next = await openMigrations(options());
    assert.deepEqual((await next.state())?.fresh, ['9001-step']);
    await next.up();
    assert.deepEqual((await next.state())?.pending, ['9001-step']);
    await next.close();
    const list = await run('list');
    assert.equal(list.code, 0, list.output);
    assert.match(list.output, /Migrations of a later version:\n {2}9001-step/);
  });

  it('a store whose upgrade is finished is refused, and says why', async () => {
    const next = await openMigrations(options());
    assert.deepEqual(await next.finish(), ['9001-step']);
    await next.close();
    const up = await run('up');
    assert.equal(up.code, 0, up.errors);
    const old = await createStore({ ...options(), later: [] });
    await assert.rejects(
      old.migrate(),
      /requires a newer version \(it has '0007|requires a newer version \(it has '9001/,
    );
    await old.close();
  });

  it('neither deletes nor finishes what running nodes use, unless forced', async () => {
    const report = (id: string, version: string): StoredNode => ({
      id,
      role: 'traditional',
      data: JSON.stringify({ id, hostname: id, version }),
    });
    const nodes = [report('one', '0.0.1'), report('two', version)];
    const first = await createStore(options());
    await first.putNodes(nodes);
    await first.close();
    assert.match((await run('reset', '--yes')).errors, /2 nodes use the database: stop them first, or pass --force/);
    assert.match((await run('reset', '--yes', '--force')).output, /successfully reset/);
    assert.equal((await run('list')).code, 3);
    // Consumers of a version that looked none of their fields up.
    const definitions = [defineTestEntity({ name: 'consumers' })];
    const old = await createStore({ ...options(), later: laterMigrations, definitions });
    await old.migrate();
    await old.putNodes(nodes);
    await old.close();
    const news = await run('list');
    assert.equal(news.code, 5, news.output);
    assert.match(news.output, /New migrations available:\n[\s\S]* {2}entity consumers\n/);
    const up = await run('up');
    assert.equal(up.code, 0, up.errors);
    assert.match(up.output, /Run 'sluicegate migrations finish' when every node has this version$/);
    const pending = await run('list');
    assert.equal(pending.code, 4);
    assert.match(pending.output, /Pending migrations:\n {2}entity consumers\n/);
    const finish = await run('finish');
    assert.match(finish.errors, /nodes of another version than \S+ run: one \(0\.0\.1\); upgrade them first/);
    assert.match((await run('finish', '--force')).output, /^entity consumers \(executed\)\n1 migrations processed\n/);
    assert.equal((await run('list')).code, 0);
  });

  it('reports an unreachable database in one line, within its timeout', async () => {
    server.freeze();
    const begun = performance.now();
    const list = await run('list', '--db-timeout', '0.5');
    server.thaw();
    assert.equal(list.code, 1);
    assert.match(list.errors, /^Error: cannot use PostgreSQL at /);
    assert.ok(performance.now() - begun < 10_000);
  });
});
