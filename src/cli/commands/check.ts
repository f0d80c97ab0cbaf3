import type { CommandContext } from '../command.ts';
import { settingsOf } from '../settings-of.ts';

export async function check(context: CommandContext): Promise<number> {
  const { file, settings, warnings } = settingsOf(context, context.arguments.positionals[0]);
  for (const warning of warnings) context.err(`Warning: ${warning}`);
  const { loadPlugins } = await import('../../shared/plugin-loader/load-plugins.ts');
  const { pluginBase } = await import('../../shared/plugin-loader/plugin-base.ts');
  const own = settings.plugins.filter((entry) => entry !== 'bundled');
  await loadPlugins(own, pluginBase(settings, context.cwd), { pins: settings.pluginPins });
  context.out(file === null ? 'the settings are valid (no file was found)' : `configuration at ${file} is valid`);
  return 0;
}
