import type { CommandContext } from '../command.ts';
import { settingsOf } from '../settings-of.ts';

export async function check(context: CommandContext): Promise<number> {
  const { file, settings, warnings } = settingsOf(context, context.arguments.positionals[0]);
  for (const warning of warnings) context.err(`Warning: ${warning}`);
  const { loadPlugins } = await import('../../shared/plugin-loader/load-plugins.ts');
  await loadPlugins(
    settings.plugins.filter((entry) => entry !== 'bundled'),
    context.cwd,
  );
  context.out(file === null ? 'the settings are valid (no file was found)' : `configuration at ${file} is valid`);
  return 0;
}
