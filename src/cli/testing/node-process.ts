import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import '../../../test/support/file-end.ts';
import { collectOutput, type ProcessOutput } from './process-output.ts';

const cache = join(import.meta.dirname, '../../../.runtime/compile-cache');

/** A `sluicegate start` that runs as a process of its own. */
export interface NodeProcess extends ProcessOutput {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
}

export function startNode(prefix: string, ...options: readonly string[]): NodeProcess {
  const script = fileURLToPath(new URL('./start-node.ts', import.meta.url));
  const argv = [
    '--disable-warning=ExperimentalWarning',
    script,
    'start',
    '-p',
    prefix,
    '--proxy-listen',
    '127.0.0.1:0',
    '--shutdown-delay',
    '0s',
    ...options,
  ];
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { NODE_COMPILE_CACHE: cache },
    cwd: prefix,
  });
  return {
    child,
    ...collectOutput(child),
    exit: once(child, 'close').then(() => child.exitCode),
  };
}
