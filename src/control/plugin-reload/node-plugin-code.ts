import type { PluginCode } from '../../shared/plugin-loader/code/plugin-code.ts';
import type { PluginProblem, TriedPlugin } from '../../shared/plugin-loader/trial/trial.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { TrialOptions } from './run-trial.ts';

export interface NodePluginCodeOptions extends TrialOptions {
  readonly settings: Pick<Settings, 'plugins' | 'pluginPins' | 'database' | 'role' | 'untrustedFunctions'>;
  readonly baseDirectory: string;
}

/** The code of users' plugins that a node runs. A node without such plugins has none, and loads nothing for it. */
export class NodePluginCode {
  readonly #options: NodePluginCodeOptions;
  #plugins: readonly TriedPlugin[] = [];
  /** Versions that threads have loaded: modules cannot be unloaded. */
  readonly #loaded = new Set<string>();

  constructor(options: NodePluginCodeOptions) {
    this.#options = options;
  }

  /** What the workers run, except while a reload tries other code in one of them. */
  get plugins(): readonly TriedPlugin[] {
    return this.#plugins;
  }

  get codes(): readonly PluginCode[] {
    return this.#plugins.map(({ code }) => code);
  }

  /** How many versions of plugins this process has loaded. */
  get versions(): number {
    return this.#loaded.size;
  }

  hasLoaded({ version }: PluginCode): boolean {
    return this.#loaded.has(version);
  }

  /** Loads the code for the first time. Rejects with one line that says why it cannot be used. */
  async begin(): Promise<void> {
    const { plugins } = this.#options.settings;
    if (plugins.every((entry) => entry === 'bundled' || entry === 'off')) return;
    const { ownEntries } = await import('../../shared/plugin-loader/own-entries.ts');
    if (ownEntries(plugins).length === 0) return;
    const result = await this.read([]);
    if (!result.ok) throw new Error(problemText(result.problem));
    await this.use(result.plugins);
    this.adopt(result.plugins);
  }

  /** Reads the files again and tries them. `rows`: of the entity `plugins`. Never rejects. */
  async read(rows: Parameters<typeof import('./run-trial.ts').runTrial>[0]['rows']) {
    const { settings, baseDirectory } = this.#options;
    const { runTrial } = await import('./run-trial.ts');
    const sharedStore = settings.database !== 'off' || settings.role === 'data_plane';
    const { plugins: setting, pluginPins: pins, untrustedFunctions } = settings;
    return runTrial({ setting, pins, baseDirectory, sharedStore, untrustedFunctions, rows }, this.#options);
  }

  /** The files have the content that the workers run. */
  async isCurrent(): Promise<boolean> {
    const { isOnDisk } = await import('../../shared/plugin-loader/code/plugin-code.ts');
    return this.codes.every(isOnDisk);
  }

  /** This thread can import the code from now on. */
  async use(plugins: readonly TriedPlugin[]): Promise<void> {
    const { useCode } = await import('../../shared/plugin-loader/code/code-hooks.ts');
    useCode(plugins.map(({ code }) => code));
    for (const { code } of plugins) this.#loaded.add(code.version);
  }

  /** From now on workers that start run this code. */
  adopt(plugins: readonly TriedPlugin[]): void {
    const files = new Set(plugins.map(({ code }) => code.file));
    this.#plugins = [...this.#plugins.filter(({ code }) => !files.has(code.file)), ...plugins];
  }
}

/** The problem in one line, with its place. */
export function problemText({ message, file, line, column }: PluginProblem): string {
  return file === null ? message : `${message} (${file}:${line}:${column})`;
}
