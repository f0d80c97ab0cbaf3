import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import './file-end.ts';
import { freePort } from './free-port.ts';
import { readLinesUntil } from './output-lines.ts';
import type { TestPostgres } from './postgres.ts';

/** A PgBouncer in front of a PostgreSQL, on a port of 127.0.0.1. */
export interface TestPgBouncer {
  /** The database through the pooler. */
  readonly server: Pick<TestPostgres, 'host' | 'port' | 'user' | 'password' | 'database'>;
  /** Freezes it: connections stay open, and nothing passes. */
  freeze(): void;
  thaw(): void;
  /** Ends it with all its connections. */
  crash(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export type PoolMode = 'transaction' | 'session';

const install = 'needs PgBouncer: apt-get install pgbouncer';

/** For the `skip` option of tests. In CI a missing PgBouncer is a failure, not a skip. */
export function skipWithoutPgBouncer(): string | false {
  if (findBinary() !== null) return false;
  if (process.env['CI'] === 'true') throw new Error(install);
  return install;
}

/** Only what such a pooler needs is configured: no parameter is ignored, and no query resets a connection in transaction mode. */
export async function startPgBouncer(postgres: TestPostgres, mode: PoolMode): Promise<TestPgBouncer> {
  const binary = findBinary();
  if (binary === null) throw new Error(install);
  const directory = mkdtempSync(join(tmpdir(), 'sluicegate-pgbouncer-'));
  const { host, user, password, database } = postgres;
  const port = await freePort();
  const users = join(directory, 'users.txt');
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(users, `"${user}" "${password}"\n`);
  const lines = [
    '[databases]',
    `${database} = host=${host} port=${postgres.port} dbname=${database}`,
    '[pgbouncer]',
    `listen_addr = ${host}`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    // Its default keeps clients waiting for 15 s after the server has returned.
    'server_login_retry = 1',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  // It refuses to run as root, and drops to a user that must be able to read its files.
  chmodSync(directory, 0o755);
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const start = (): Promise<ChildProcess> => startServer(binary, [...asUser, file], directory);
  let server = await start();
  const killAtExit = (): void => void server.kill('SIGKILL');
  process.once('exit', killAtExit);
  const crash = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  };
  return {
    server: { host, port, user, password, database },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    crash,
    restart: async () => {
      server = await start();
    },
    stop: async () => {
      process.off('exit', killAtExit);
      await crash();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startServer(binary: string, args: readonly string[], cwd: string): Promise<ChildProcess> {
  const server = spawn(binary, [...args], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  await readLinesUntil('PgBouncer', server.stderr, (line) => line.includes('process up'));
  return server;
}

function findBinary(): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path)) ?? null;
}
