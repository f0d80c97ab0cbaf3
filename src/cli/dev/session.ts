import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { NodeDevelopment } from '../../boot/development/node-development.ts';
import type { ReloadOutcome } from '../../control/plugin-reload/reload-outcome.ts';
import { type CodeProblem, shownPath } from '../../shared/development/code-problem.ts';
import type { LogReceiver } from '../../shared/logs/log-receiver.ts';
import { concerned, loadProblemOf } from './code-problems.ts';
import type { EchoBackend } from './echo-backend.ts';
import { configFile, configProblems, type ExamplePlugin, exampleConfig } from './example-config.ts';
import type { DevelopedPlugin } from './find-plugins.ts';
import { loggedFailure } from './logged-failure.ts';
import type { Terminal } from './terminal.ts';
import type { ChangedFiles, CodeWatcher } from './watch/code-watcher.ts';

export interface SessionOptions {
  readonly node: NodeDevelopment;
  readonly terminal: Terminal;
  readonly watcher: CodeWatcher;
  readonly plugins: readonly DevelopedPlugin[];
  /** Null: `--config` names a file. */
  readonly example: EchoBackend | null;
  /** The working directory. */
  readonly root: string;
  /** Other changes have been noticed, and wait to be handled. */
  readonly isChanging: () => boolean;
}

/** Milliseconds after which the system has notified of a write. */
const writeTime = 30;

/** A running gateway for development: brings changes into it, and shows what is wrong. */
export class Session {
  readonly #options: SessionOptions;
  readonly #node: NodeDevelopment;
  /** The newest code cannot be used. */
  #broken = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#node = options.node;
    this.#watchCode();
  }

  /** Files have changed. Resolves to true when only a new start of the gateway can use them. */
  async changed(change: ChangedFiles): Promise<boolean> {
    const { example, terminal } = this.#options;
    const code = change.files.filter((file) => basename(file) !== configFile);
    const configured = code.length < change.files.length;
    const result = code.length === 0 ? 'same' : await this.#reload({ ...change, files: code });
    if (result === 'restart') return true;
    // New code may have other fields and defaults.
    if (example === null || (result === 'same' && !configured)) return false;
    const problems = await this.#applyExample(example);
    for (const problem of problems) terminal.problem(problem);
    if (configured && problems.length === 0) terminal.success(`${configFile} is in use`);
    return false;
  }

  /** Puts the example into the gateway, and then calls `announce`. */
  async begin(announce: () => void): Promise<void> {
    const { example, terminal } = this.#options;
    const problems = example === null ? [] : await this.#applyExample(example);
    announce();
    for (const problem of problems) terminal.problem(problem);
  }

  /** Resolves to what is wrong with the configuration. */
  async #applyExample(example: EchoBackend): Promise<readonly CodeProblem[]> {
    const plugins = this.#examplePlugins();
    const problems = await this.#load(example, plugins);
    example.fail(problems[0] ?? null);
    // Without the plugin the route leads to the backend, which shows the problem.
    if (problems.length > 0) await this.#load(example, []);
    return problems;
  }

  async #load(example: EchoBackend, plugins: readonly ExamplePlugin[]): Promise<readonly CodeProblem[]> {
    try {
      return configProblems(await this.#node.load(exampleConfig(example.url, plugins)), plugins);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const plugin = plugins[0]?.name ?? 'the example';
      return [{ plugin, title: 'its configuration cannot be used', message, place: null, excerpt: null }];
    }
  }

  #examplePlugins(): readonly ExamplePlugin[] {
    const loaded = this.#node.plugins();
    return this.#options.plugins.map(({ entry, folder }) => {
      const own = loaded.find(({ file }) => folder !== null && file.startsWith(folder));
      return { name: own?.name ?? entry, folder };
    });
  }

  async #reload({ files, noticed }: ChangedFiles): Promise<'live' | 'same' | 'restart'> {
    const { terminal, root, example, isChanging } = this.#options;
    const outcome = await this.#tryReload();
    if (outcome.state === 'live') {
      this.#recover();
      terminal.reloaded({
        plugins: outcome.plugins,
        milliseconds: performance.now() - noticed,
        files: files.map((file) => shownPath(file, root)),
      });
      this.#watchCode();
      return 'live';
    }
    if (outcome.state === 'unchanged') {
      if (this.#broken) terminal.success('the code is again what the gateway runs');
      this.#recover();
      return 'same';
    }
    const { problem, reason = 'the code cannot be used' } = outcome;
    // Another name, other entities: what a running node cannot exchange. CommonJS modules are loaded once in a process.
    if (problem === undefined && outcome.state === 'refused' && !reason.includes('CommonJS')) return 'restart';
    // The file would have to fit the code before and the code after.
    if (example === null && refusesConfig(outcome)) return 'restart';
    await wait(writeTime);
    // Perhaps a file was read while it was written. What is wrong with the newest save is said after it was tried.
    if (isChanging()) return 'same';
    const found = problem ?? { message: reason, file: null, line: null, column: null };
    const problems = concerned(this.#node.plugins(), found.file).map((plugin) =>
      loadProblemOf({ plugin, title: 'the newest save cannot be used' }, found, root),
    );
    this.#broken = true;
    this.#node.show(problems);
    if (problems[0] !== undefined) terminal.problem(problems[0]);
    this.#watchCode(found.file);
    return 'same';
  }

  /** New code may refuse the configuration of the example, which is about to change with it. */
  async #tryReload(): Promise<ReloadOutcome> {
    const { example } = this.#options;
    const outcome = await this.#node.reload();
    if (example === null || !refusesConfig(outcome)) return outcome;
    // Requests that come before the plugin is back get the reason.
    const [plugin = ''] = outcome.plugins;
    const message = outcome.reason ?? '';
    example.fail({ plugin, title: 'its configuration is not valid', message, place: null, excerpt: null });
    await this.#load(example, []);
    const second = await this.#node.reload();
    if (second.state !== 'live') await this.#applyExample(example);
    return second;
  }

  #recover(): void {
    if (this.#broken) this.#node.show([]);
    this.#broken = false;
  }

  /** Modules outside the folders of the plugins, and the file with an error. */
  #watchCode(broken: string | null = null): void {
    const files = this.#node.codeFiles();
    this.#options.watcher.watchAlso(broken === null ? files : [...files, broken]);
  }
}

/** Prints what the gateway logs, as far as it concerns a developer. `root`: the working directory. */
export function logTo(terminal: Terminal, root: string): LogReceiver {
  return (level, message, fields) => {
    const failure = loggedFailure({ level, message, fields }, root);
    if (failure !== null) terminal.problem(failure.problem, failure.stack);
    else if (message === 'loaded the declarative config') terminal.note(loadedText(fields, root));
    else if (isShown(level, message, fields)) terminal.log({ level, message, fields });
  };
}

/** The code is fine, and an instance is configured as the code before wanted it. */
function refusesConfig({ state, reason = '' }: ReloadOutcome): boolean {
  return state === 'refused' && /no longer accepts the configuration of instance/.test(reason);
}

/** What the session itself says in its own words. */
const said: ReadonlySet<string> = new Set([
  'plugin loaded',
  'new code of plugins was refused',
  'new code of plugins was rolled back',
]);
const quiet: ReadonlySet<string> = new Set(['debug', 'info', 'notice']);

function isShown(level: string, message: string, { plugin }: Readonly<Record<string, unknown>>): boolean {
  return !said.has(message) && (typeof plugin === 'string' || !quiet.has(level));
}

function loadedText({ source, created, updated, deleted }: Readonly<Record<string, unknown>>, root: string): string {
  return `loaded ${shownPath(String(source), root)} (${created} created, ${updated} updated, ${deleted} deleted)`;
}
