import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './file-end.ts';
import { freePort } from './free-port.ts';
import { readLinesUntil } from './output-lines.ts';

/** A throw-away Redis server on a port of 127.0.0.1, with nothing on disk. */
export interface TestRedis {
  readonly host: string;
  readonly port: number;
  /** Stops the server at once; its data is lost. */
  kill(): Promise<void>;
  /** Starts the server again on the same port, empty. */
  restart(): Promise<void>;
  /** The server keeps its connections but stops answering until `resume`. */
  hang(): void;
  resume(): void;
  /** Sends one command with `redis-cli`; returns the answer. */
  command(...words: string[]): string;
  stop(): Promise<void>;
}

export interface TestRedisOptions {
  /** More arguments of `redis-server`: `['--requirepass', 'x']`. */
  readonly arguments?: readonly string[];
  /** PEM files. With them the port is TLS only. `ca`: who signed the certificates of other servers; default: `cert`. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
}

/** For the `skip` option of tests, as `skipWithoutPostgres`. */
export function skipWithoutRedis(): string | false {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    const reason = 'needs Redis: apt-get install redis-server';
    if (process.env['CI'] === 'true') throw new Error(reason);
    return reason;
  }
}

export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const directory = mkdtempSync(join(tmpdir(), 'sluicegate-redis-'));
  const port = await freePort();
  const start = (): Promise<ChildProcess> => startServer(port, directory, options);
  let server = await start();
  const killAtExit = (): void => void server.kill('SIGKILL');
  process.once('exit', killAtExit);
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  };
  const tlsWords = options.tls === undefined ? [] : ['--tls', '--insecure'];
  return {
    host: '127.0.0.1',
    port,
    kill,
    restart: async () => {
      server = await start();
    },
    hang: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    command: (...words) =>
      execFileSync('redis-cli', ['-p', String(port), ...tlsWords, ...words], {
        encoding: 'utf8',
        stdio: 'pipe',
      }).trim(),
    stop: async () => {
      process.off('exit', killAtExit);
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startServer(port: number, directory: string, options: TestRedisOptions): Promise<ChildProcess> {
  const { tls } = options;
  const listen =
    tls === undefined
      ? ['--port', String(port)]
      : [
          ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no'],
          ...['--tls-cert-file', tls.cert, '--tls-key-file', tls.key, '--tls-ca-cert-file', tls.ca ?? tls.cert],
        ];
  const words = [...listen, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...(options.arguments ?? [])];
  return await spawnUntil('redis-server', words, directory, 'Ready to accept connections');
}

/** Starts a program of Redis; resolves when it has written this text. */
export async function spawnUntil(
  program: string,
  words: readonly string[],
  directory: string,
  text: string,
): Promise<ChildProcess> {
  const server = spawn(program, words, { cwd: directory, stdio: ['ignore', 'pipe', 'ignore'] });
  await readLinesUntil(program, server.stdout, (line) => line.includes(text));
  return server;
}
