import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A `sluicegate start` that runs as a process of its own. */
export interface NodeProcess {
  readonly child: ChildProcess;
  /** Everything written so far. */
  readonly output: () => string;
  /** Resolves when the output has this in it. */
  readonly printed: (text: string | RegExp) => Promise<void>;
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
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'], env: {}, cwd: prefix });
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const check of waiting) check();
    });
  }
  return {
    child,
    output: () => output,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (typeof text === 'string' ? !output.includes(text) : !text.test(output)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        child.once('close', () => reject(new Error(`ended without printing ${text}: ${output}`)));
        check();
      }),
    exit: once(child, 'close').then(() => child.exitCode),
  };
}
