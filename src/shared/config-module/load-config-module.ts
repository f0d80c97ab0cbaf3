import { fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfigModuleAnswer } from './run-config-module.ts';

const extensions: ReadonlySet<string> = new Set(['.ts', '.mts', '.js', '.mjs']);
const entry = fileURLToPath(new URL('./run-config-module.ts', import.meta.url));

/** Milliseconds in which a config module must have its config. */
const defaultTimeout = 30_000;

/** Whether the file is a config in TypeScript or JavaScript. */
export function isConfigModule(path: string): boolean {
  return extensions.has(extname(path));
}

/**
 * The config that the file exports, as a document. The code runs in a process of its own, with the environment of this one: it is read
 * again each time, with everything that it imports, and can neither block this process nor stay in its memory. Rejects with one line: what is
 * wrong, and `file:line:column` where it is known.
 *
 * @param timeout Milliseconds. Default: 30,000.
 */
export function loadConfigModule(file: string, timeout = defaultTimeout): Promise<Readonly<Record<string, unknown>>> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return Promise.reject(new Error('no such file'));
  return new Promise((resolve, reject) => {
    // What the module prints must not be in the output of a command.
    const child = fork(entry, [file], { stdio: ['ignore', 2, 2, 'ipc'], execArgv: [] });
    let answered = false;
    const answer = (act: () => void): void => {
      if (answered) return;
      answered = true;
      clearTimeout(late);
      child.kill('SIGKILL');
      act();
    };
    const late = setTimeout(
      () => answer(() => reject(new Error(`it has no config after ${timeout / 1000} s`))),
      timeout,
    );
    child.on('message', (message: ConfigModuleAnswer) =>
      answer(() => ('config' in message ? resolve(message.config) : reject(new Error(message.problem)))),
    );
    child.on('error', (error) => answer(() => reject(error)));
    child.on('exit', (code, signal) =>
      answer(() => reject(new Error(`its process ended before it had a config (${signal ?? `code ${code}`})`))),
    );
  });
}
