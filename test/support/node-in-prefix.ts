import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processIdentity } from '../../src/cli/node/process-identity.ts';
import { collectOutput } from '../../src/cli/testing/process-output.ts';
import './file-end.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { until } from './until.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

export interface CommandResult {
  readonly code: number | null;
  readonly output: string;
}

/** A node in a prefix of its own that commands control; other processes may take over from the first one. */
export interface NodeInPrefix extends AsyncDisposable {
  readonly prefix: string;
  readonly first: GatewayProcess;
  /** The process that is the node now. */
  readonly pid: () => Promise<number>;
  /** Runs `sluicegate <command>` with the settings of the node. */
  readonly run: (command: string, ...args: readonly string[]) => Promise<CommandResult>;
  /** Writes the settings file of the node. */
  readonly configure: (settings: Readonly<Record<string, string>>) => void;
  /** Sends a request to the Admin API; throws unless it succeeds. */
  readonly admin: (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;
  readonly port: (listener: 'proxy' | 'admin' | 'status') => number;
}

/** `file`: the first content of its settings file. */
export async function startNodeInPrefix(
  env: Readonly<Record<string, string>> = {},
  file: Readonly<Record<string, string>> = {},
): Promise<NodeInPrefix> {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-node-'));
  const path = join(prefix, 'sluicegate.conf');
  const configure = (settings: Readonly<Record<string, string>>): void => {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
    writeFileSync(path, lines.join(''));
  };
  configure(file);
  // A variable would take precedence over the file.
  const unset = Object.fromEntries(Object.keys(file).map((name) => [`KONG_${name.toUpperCase()}`, undefined]));
  const first = startGatewayProcess(prefix, { ...env, ...unset }, ['-c', path]);
  const pids = new Set<number>();
  const pid = async (): Promise<number> => {
    const found = Number(await readFile(join(prefix, 'pids', 'sluicegate.pid'), 'utf8'));
    pids.add(found);
    return found;
  };
  try {
    await first.started();
  } catch (error) {
    await rm(prefix, { recursive: true, force: true });
    throw error;
  }
  return {
    prefix,
    first,
    pid,
    configure,
    run: (command, ...args) =>
      runCommand([command, '-c', path, ...args], { ...commandEnv, KONG_PREFIX: prefix, ...env }),
    async admin(method, path, body) {
      const response = await fetch(`${first.url('admin')}${path}`, {
        method,
        // Another process may take over: an idle connection to this one may close while a request is on its way.
        headers: { 'Content-Type': 'application/json', Connection: 'close' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    },
    port: (listener) => Number(new URL(first.url(listener)).port),
    async [Symbol.asyncDispose]() {
      await pid().catch(() => 0);
      for (const one of pids) end(one);
      await until(() => ![...pids].some(isAlive));
      await first[Symbol.asyncDispose]();
      await rm(prefix, { recursive: true, force: true });
    },
  };
}

const commandEnv = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../.runtime/compile-cache') };

/** Runs `sluicegate` with these arguments. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  const { output } = collectOutput(child);
  await once(child, 'close');
  return { code: child.exitCode, output: output() };
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Whether the process runs; one that has ended and is not yet collected does not. */
export function isAlive(pid: number): boolean {
  return processIdentity(pid) !== null;
}
