import type { PluginReload, PluginReloadOptions, ReloadRequest } from '../../control/plugin-reload/plugin-reload.ts';
import type { ReloadOutcome, ReloadState } from '../../control/plugin-reload/reload-outcome.ts';
import type { PluginCodeAppliedMessage } from '../../shared/messages/plugin-code.ts';

/** Reloads of users' plugins. Their code is loaded with the first one: most nodes have no such plugins. */
export class PluginReloads {
  readonly #options: PluginReloadOptions;
  #loading: Promise<PluginReload> | null = null;
  #reload: PluginReload | null = null;

  constructor(options: PluginReloadOptions) {
    this.#options = options;
  }

  /** Rejects with a `ReloadRuns` only. */
  async run(request: ReloadRequest): Promise<ReloadOutcome> {
    if (this.#options.code.plugins.length === 0) return { state: 'unchanged', plugins: [], took: 0 };
    this.#loading ??= this.#load();
    return (await this.#loading).run(request);
  }

  state(): ReloadState {
    return this.#reload?.state() ?? { running: false, last: null, versions: this.#options.code.versions };
  }

  answered(message: PluginCodeAppliedMessage): void {
    this.#reload?.answered(message);
  }

  ended(worker: number): void {
    this.#reload?.ended(worker);
  }

  async #load(): Promise<PluginReload> {
    const { PluginReload: Reload } = await import('../../control/plugin-reload/plugin-reload.ts');
    this.#reload = new Reload(this.#options);
    return this.#reload;
  }
}
