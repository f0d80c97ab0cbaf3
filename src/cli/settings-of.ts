import type { LoadedSettings } from '../settings/load.ts';
import { loadSettings } from '../settings/load.ts';
import { definitions, findSetting } from '../settings/schema.ts';
import { CliError } from './cli-error.ts';
import type { CommandContext } from './command.ts';

/** The settings that a command was called with. `file` stands above `--conf`. */
export function settingsOf(context: CommandContext, file?: string): LoadedSettings {
  const { options, settings } = context.arguments;
  const flags: Record<string, string> = {};
  for (const [name, value] of Object.entries(settings)) flags[name] = value === true ? bareValue(name) : value;
  if (typeof options['prefix'] === 'string') flags['prefix'] = options['prefix'];
  const conf = file ?? options['conf'];
  return loadSettings({ flags, env: context.env, cwd: context.cwd, ...(typeof conf === 'string' && { conf }) });
}

/** A switch may stand alone; any other setting needs its value. An unknown name is left to the settings to refuse. */
function bareValue(flag: string): string {
  const name = findSetting(flag.replaceAll('-', '_'));
  if (name === null) return '';
  const { default: value } = definitions[name];
  if (value !== 'on' && value !== 'off') throw new CliError(`option --${flag} needs a value`);
  return 'on';
}
