import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { collectOutput, type ProcessOutput } from '../../src/cli/testing/process-output.ts';
import './file-end.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const cache = join(import.meta.dirname, '../../.runtime/compile-cache');

/** A gateway that runs as a separate process, as a user starts it. */
export interface GatewayProcess extends ProcessOutput, AsyncDisposable {
  readonly child: ChildProcess;
  /** Resolves when the node listens. */
  readonly started: () => Promise<void>;
  /** The exit code; null if a signal ended it. */
  readonly exit: Promise<number | null>;
  /** Base URL of a listener, once the node has started. */
  readonly url: (listener: 'proxy' | 'admin' | 'status' | 'cluster') => string;
}

/**
 * Starts a gateway; defaults that `env` can replace: one worker, every port 0. Disposing of it kills it. `entry`: the command line of
 * another version (`previous-version.ts`). `through`: a command that runs the program after its own arguments, such as
 * `ip netns exec <name>`.
 */
export function startGatewayProcess(
  prefix: string,
  env: Readonly<Record<string, string | undefined>> = {},
  options: readonly string[] = [],
  entry = main,
  through: readonly string[] = [],
): GatewayProcess {
  const anywhere = '127.0.0.1:0';
  const start = [process.execPath, '--disable-warning=ExperimentalWarning', entry, 'start', ...options];
  const [program = '', ...args] = [...through, ...start];
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      NODE_COMPILE_CACHE: cache,
      KONG_PREFIX: prefix,
      KONG_PROXY_LISTEN: anywhere,
      KONG_ADMIN_LISTEN: anywhere,
      KONG_STATUS_LISTEN: anywhere,
      KONG_ADMIN_GUI_LISTEN: 'off',
      KONG_NGINX_WORKER_PROCESSES: '1',
      SLUICEGATE_SHUTDOWN_DELAY: '0s',
      ...env,
    },
  });
  const { output, printed } = collectOutput(child);
  const exit = once(child, 'close').then(() => child.exitCode);
  return {
    child,
    output,
    printed,
    started: () => printed(/^ {2}status .*\n/m),
    exit,
    url: (listener) => {
      const found = new RegExp(`^ {2}${listener} +((?:http|wss)://\\S+)`, 'm').exec(output())?.[1];
      if (found === undefined) throw new Error(`the node has not said where its ${listener} listener is:\n${output()}`);
      return found;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
