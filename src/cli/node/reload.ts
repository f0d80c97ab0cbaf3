import type { ReloadOutcome } from '../../control/plugin-reload/reload-outcome.ts';
import type { Gateway } from '../../gateway.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { CommandContext } from '../command.ts';
import { checkLogTargets } from '../commands/check-log-targets.ts';
import { settingsOf } from '../settings-of.ts';
import { writeOutcome } from './outcome-file.ts';
import type { ServiceManager } from './service-manager.ts';
import type { Upgrade } from './upgrade.ts';

export interface ReloadOptions {
  readonly context: CommandContext;
  /** Those that the node was started with. */
  readonly settings: Settings;
  readonly upgrade: Upgrade;
  readonly manager: ServiceManager;
}

/** Reads the settings of the running node again, with the arguments and the environment of its start. */
export class Reload {
  readonly #options: ReloadOptions;
  #last: Promise<void> = Promise.resolve();

  constructor(options: ReloadOptions) {
    this.#options = options;
  }

  /** One reload after the other. The outcome is logged, and written for the command that waits for it. */
  begin(gateway: Gateway | null): Promise<void> {
    this.#last = this.#last.then(() => this.#run(gateway));
    return this.#last;
  }

  async #run(gateway: Gateway | null): Promise<void> {
    const { settings, manager } = this.#options;
    const { prefix } = settings;
    manager.reloading();
    try {
      if (gateway === null) throw new Error('the node is still starting');
      const lines = await this.#reload(gateway);
      gateway.log.log('notice', ['reloaded', ...lines].join('; '));
      writeOutcome(prefix, 'reload', true, lines);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      gateway?.log.log('error', `reload failed: ${reason}`);
      writeOutcome(prefix, 'reload', false, [reason]);
    } finally {
      // A process that has taken over reports that it is ready by itself.
      if (!this.#options.upgrade.done) manager.ready();
    }
  }

  async #reload(gateway: Gateway): Promise<readonly string[]> {
    const { context, upgrade } = this.#options;
    const { settings } = settingsOf(context);
    checkLogTargets(settings);
    const { applied, byNewProcess, restart, plugins } = await gateway.reload(settings);
    upgrade.timeout = settings.upgradeTimeout;
    const lines = applied.length === 0 ? [] : [`applied: ${applied.join(', ')}`];
    if (plugins !== undefined) lines.push(...pluginLines(plugins));
    const later = [...restart];
    if (byNewProcess.length > 0) {
      const refusal = upgrade.refusal(gateway);
      if (refusal === null) {
        const failure = await upgrade.begin(gateway);
        if (failure !== null) throw new Error(`${byNewProcess.join(', ')} could not be applied: ${failure}`);
        return [...lines, `applied by a new process: ${[...byNewProcess, ...restart].join(', ')}`];
      }
      later.unshift(...byNewProcess);
    }
    return later.length === 0 ? lines : [...lines, `needs a restart (sluicegate upgrade): ${later.join(', ')}`];
  }
}

/** What came of new code of plugins. Throws when it is not in use: the settings are. */
function pluginLines({ state, plugins, reason = '' }: ReloadOutcome): readonly string[] {
  if (state === 'unchanged') return [];
  const names = plugins.join(', ');
  if (state === 'live') return [`new code of plugins: ${names}${reason === '' ? '' : ` (${reason})`}`];
  const what = state === 'rolled_back' ? 'was rolled back' : 'was refused';
  throw new Error(`the new code of plugins ${what}: ${reason}; the settings are applied`);
}
