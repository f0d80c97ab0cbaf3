import type { TriedPlugin } from '../../shared/plugin-loader/trial/trial.ts';

interface AnnounceLog {
  notice(message: string, fields: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** One line for each plugin of a user that the node runs: what it is, where it is, and what it says that it reaches. */
export function announcePlugins(log: AnnounceLog, plugins: readonly TriedPlugin[]): void {
  for (const { name: plugin, version, capabilities, uses, code } of plugins) {
    const found = uses.map(({ capability, by }) => `${capability} (${by})`).join(', ');
    log.notice('plugin loaded', {
      plugin,
      version,
      file: code.file,
      capabilities: capabilities === null ? 'not declared' : capabilities.join(', ') || 'none',
      ...(capabilities === null && found !== '' && { uses: found }),
    });
    for (const { capability, by } of uses) {
      if (capabilities === null || capabilities.includes(capability)) continue;
      log.warn(`the plugin uses ${by} but does not declare the capability ${capability}`, { plugin, file: code.file });
    }
  }
}
