import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import '../../../../test/support/file-end.ts';
import { collectOutput, type ProcessOutput } from '../../testing/process-output.ts';

const main = join(import.meta.dirname, '../../../main.ts');
const cache = join(import.meta.dirname, '../../../../.runtime/compile-cache');

/** Files of a plugin by name. */
export type PluginFiles = Readonly<Record<string, string>>;

/** A `sluicegate dev` in a folder with a plugin. */
export interface DevProcess extends ProcessOutput {
  readonly folder: string;
  /** Where it makes its temporary prefix. */
  readonly temporary: string;
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  /** Base URL of the proxy, once the gateway has started. */
  readonly proxy: () => string;
  /** Writes a file in place. */
  readonly write: (name: string, text: string) => void;
  /** Writes a file next to it and renames it, as many editors do. */
  readonly replace: (name: string, text: string) => void;
  readonly started: () => Promise<void>;
  /** What was printed since this was called. */
  readonly sinceNow: () => () => string;
}

export interface DevOptions {
  readonly args?: readonly string[];
  /** Of the command, below the folder. */
  readonly cwd?: string;
  /** Default: listeners of 127.0.0.1 with port 0, and no others. */
  readonly listeners?: readonly string[];
}

const anywhere = ['--proxy-listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--admin-gui-listen', 'off'];

export function pluginFolder(t: TestContext, files: PluginFiles): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-dev-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export function startDev(t: TestContext, files: PluginFiles, options: DevOptions = {}): DevProcess {
  const folder = pluginFolder(t, files);
  // A process that is killed leaves its prefix behind.
  const temporary = pluginFolder(t, {});
  const { args = [], cwd = '.', listeners = anywhere } = options;
  const argv = ['--disable-warning=ExperimentalWarning', main, 'dev', ...args, ...listeners];
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { NODE_COMPILE_CACHE: cache, TMPDIR: temporary },
    cwd: join(folder, cwd),
  });
  const collected = collectOutput(child);
  const exit = once(child, 'close').then(() => child.exitCode);
  t.after(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  const { output } = collected;
  return {
    ...collected,
    ...{ folder, temporary, child, exit },
    proxy: () => {
      const found = /^ {2}proxy +(http:\/\/\S+)/m.exec(output())?.[1];
      if (found === undefined) throw new Error(`the proxy does not listen:\n${output()}`);
      return found;
    },
    write: (name, text) => writeFileSync(join(folder, name), text),
    replace: (name, text) => {
      writeFileSync(join(folder, `${name}.tmp`), text);
      renameSync(join(folder, `${name}.tmp`), join(folder, name));
    },
    started: () => collected.printed(/Ctrl-C ends it/),
    sinceNow: () => {
      const from = output().length;
      return () => output().slice(from);
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export async function fetchPath(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const request = get(url, { headers, agent: false, timeout: 30_000 });
  request.on('timeout', () => request.destroy(new Error('no answer within 30 s')));
  const [response] = await once(request, 'response');
  let body = '';
  for await (const piece of response.setEncoding('utf8')) body += piece;
  return { status: response.statusCode, headers: response.headers, body };
}

/** A plugin that sets the header `Word` of the answer. */
export function wordPlugin(word: string): PluginFiles {
  return {
    'index.ts': `import { definePlugin, httpProtocols } from 'sluicegate/plugin-sdk';
import { setup } from './handler.ts';

export default definePlugin({
  name: 'my-policy',
  version: '1.0.0',
  priority: 500,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup,
});
`,
    'schema.ts': `import { type Infer, record, string } from 'sluicegate/plugin-sdk/schema';

export const config = record({
  suffix: string({ required: true, default: '!', description: 'End of the word.' }),
});

export type Config = Infer<typeof config>;
`,
    'handler.ts': wordHandler(word),
  };
}

export function wordHandler(word: string, access = ''): string {
  return `import type { PluginPhases } from 'sluicegate/plugin-sdk';
import type { Config } from './schema.ts';

export function setup(config: Config): PluginPhases {
  return {
    access(context) {
      ${access}
      return undefined;
    },
    headerFilter({ response }) {
      response.setHeader('Word', '${word}' + config.suffix);
    },
  };
}
`;
}
