import type { TriedPlugin } from '../../shared/plugin-loader/trial/trial.ts';
import type { SupervisorLog } from '../supervisor/supervisor-options.ts';

/** One line for each plugin of a user that the node runs: what it is, where it is, and what it says that it reaches. */
export function announcePlugins(log: SupervisorLog, plugins: readonly TriedPlugin[]): void {
  for (const { name: plugin, version, capabilities, uses, code } of plugins) {
    const found = uses.map(({ capability, by }) => `${capability} (${by})`).join(', ');
    log.log('notice', 'plugin loaded', {
      plugin,
      version,
      file: code.file,
      capabilities: capabilities === null ? 'not declared' : capabilities.join(', ') || 'none',
      ...(capabilities === null && found !== '' && { uses: found }),
    });
  }
  warnOfUndeclared(log, plugins);
}

/** A line for each capability that a plugin uses and does not declare, although it declares some or none. */
export function warnOfUndeclared(log: SupervisorLog, plugins: readonly TriedPlugin[]): void {
  for (const { name: plugin, capabilities, uses, code } of plugins) {
    for (const { capability, by } of uses) {
      if (capabilities === null || capabilities.includes(capability)) continue;
      const message = `the plugin uses ${by} but does not declare the capability ${capability}`;
      log.log('warn', message, { plugin, file: code.file });
    }
  }
}
