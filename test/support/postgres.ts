import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../src/shared/settings/settings.ts';
import './file-end.ts';
import { freePort } from './free-port.ts';
import { readLinesUntil } from './output-lines.ts';
import { createPostgresData, type Owner, postgresPassword, postgresUser } from './postgres-data.ts';
import { until } from './until.ts';

/** A throw-away PostgreSQL cluster on a port of 127.0.0.1. */
export interface TestPostgres {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Closes every connection and stops the server at once; the data stays. */
  crash(): Promise<void>;
  /** Kills all its processes, as when the machine runs out of memory. */
  kill(): Promise<void>;
  /**
   * Kills a process that serves a client, one that is at work if there is one. The server then ends the others, and recovers. False:
   * there was none.
   */
  killBackend(): boolean;
  /** Freezes every process of the server, as on a hanging machine: connections stay open. */
  freeze(): void;
  /** Resumes the processes. */
  thaw(): void;
  /** Starts the server again on the same port and data. */
  restart(): Promise<void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/**
 * For the `skip` option of tests: false if PostgreSQL is installed, else how to install it. In CI a missing
 * PostgreSQL is a failure, not a skip.
 */
export function skipWithoutPostgres(): string | false {
  if (findBinaries() !== null) return false;
  const reason = 'needs PostgreSQL: apt-get install postgresql';
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

/** The settings of a gateway with its config in this database. */
export function postgresSettings(server: TestPostgres, timeout = 5000): Settings['pg'] {
  const { host, port, user, password, database } = server;
  return { host, port, user, password, database, schema: null, ssl: false, sslVerify: false, timeout, poolSize: 4 };
}

export type DatabasePlace = Pick<TestPostgres, 'host' | 'port' | 'user' | 'password' | 'database'>;

/** The same for a gateway that is a process. */
export function postgresEnv({ host, port, user, password, database }: DatabasePlace): Record<string, string> {
  return {
    KONG_DATABASE: 'postgres',
    KONG_PG_HOST: host,
    KONG_PG_PORT: String(port),
    KONG_PG_USER: user,
    KONG_PG_PASSWORD: password,
    KONG_PG_DATABASE: database,
  };
}

/**
 * `addresses`: where it listens, and clients of the same networks may connect, in addition to 127.0.0.1. `crashSafe`: it may be killed;
 * slower, because pages are logged as a whole.
 */
export async function startPostgres({
  addresses = [],
  crashSafe = false,
}: {
  readonly addresses?: readonly string[];
  readonly crashSafe?: boolean;
} = {}): Promise<TestPostgres> {
  const binaries = findBinaries();
  if (binaries === null) throw new Error('needs PostgreSQL: apt-get install postgresql');
  const owner = serverOwner();
  const directory = mkdtempSync(join(tmpdir(), 'sluicegate-postgres-'));
  const data = join(directory, 'data');
  if (owner.uid !== undefined) chownSync(directory, owner.uid, owner.gid ?? owner.uid);
  createPostgresData(binaries, data, owner);
  if (addresses.length > 0) appendFileSync(join(data, 'pg_hba.conf'), 'host all all samenet scram-sha-256\n');
  const port = await freePort();
  const listen = ['127.0.0.1', ...addresses].join();
  const start = (): Promise<ChildProcess> =>
    startServer(join(binaries, 'postgres'), { data, listen, port, directory, owner, crashSafe });
  let server = await start();
  const killAtExit = (): void => void server.kill('SIGKILL');
  process.once('exit', killAtExit);
  return {
    host: '127.0.0.1',
    port,
    user: postgresUser,
    password: postgresPassword,
    database: 'postgres',
    // SIGQUIT is PostgreSQL's immediate shutdown.
    crash: () => end(server, 'SIGQUIT'),
    kill: async () => {
      signalAll(server, 'SIGSTOP');
      const processes = childrenOf(server.pid ?? 0);
      const exited = once(server, 'exit');
      server.kill('SIGKILL');
      for (const pid of processes) process.kill(pid, 'SIGKILL');
      await exited;
      // They would still write to its files, and the next server refuses to start while its shared memory is in use.
      await until(() => processes.every(hasEnded));
      rmSync(join(data, 'postmaster.pid'), { force: true });
    },
    killBackend: () => {
      const serving = childrenOf(server.pid ?? 0).filter((pid) => titleOf(pid).includes('127.0.0.1('));
      const victim = serving.find((pid) => !titleOf(pid).includes(') idle\0')) ?? serving[0];
      if (victim === undefined) return false;
      process.kill(victim, 'SIGKILL');
      return true;
    },
    freeze: () => signalAll(server, 'SIGSTOP'),
    thaw: () => signalAll(server, 'SIGCONT'),
    restart: async () => {
      server = await start();
    },
    stop: async () => {
      process.off('exit', killAtExit);
      signalAll(server, 'SIGCONT');
      await end(server, 'SIGQUIT');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface ServerOptions {
  readonly data: string;
  readonly listen: string;
  readonly port: number;
  readonly directory: string;
  readonly owner: Owner;
  readonly crashSafe: boolean;
}

async function startServer(
  binary: string,
  { data, listen, port, directory, owner, crashSafe }: ServerOptions,
): Promise<ChildProcess> {
  const pages = crashSafe ? 'on' : 'off';
  const server = spawn(
    binary,
    ['-D', data, '-p', String(port), '-h', listen, '-k', directory, '-F', '-c', `full_page_writes=${pages}`],
    { ...owner, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, LC_ALL: 'C' } },
  );
  await readLinesUntil('PostgreSQL', server.stderr, (line) =>
    line.includes('database system is ready to accept connections'),
  );
  return server;
}

/** Signals the server first, so that it starts no further process. */
function signalAll(server: ChildProcess, signal: NodeJS.Signals): void {
  if (server.exitCode !== null || server.signalCode !== null || !server.kill(signal)) return;
  for (const child of childrenOf(server.pid ?? 0)) {
    try {
      process.kill(child, signal);
    } catch {
      // The process has ended meanwhile.
    }
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);
  } catch {
    return [];
  }
}

/** Whether the process has given back its memory; it may not be collected yet. */
function hasEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^ [ZX]/.test(stat.slice(stat.lastIndexOf(')') + 1));
  } catch {
    return true;
  }
}

/** What the process says that it does; empty when it has ended. */
function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill(signal);
  await exited;
}

/** The folder of `initdb` and `postgres`; Debian installs them outside of PATH. */
function findBinaries(): string | null {
  const fromConfig = binariesByPgConfig();
  const candidates = [...globSync('/usr/lib/postgresql/*/bin').sort().reverse(), ...fromConfig];
  return (
    candidates.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null
  );
}

function binariesByPgConfig(): readonly string[] {
  try {
    return [execFileSync('pg_config', ['--bindir'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()];
  } catch {
    return [];
  }
}

/** PostgreSQL refuses to run as root; its package creates a user for it. */
function serverOwner(): Owner {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
