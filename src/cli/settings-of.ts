import { definitions, findSetting } from '../shared/settings/schema.ts';
import type { LoadedSettings } from '../shared/settings/sources/load.ts';
import { loadSettings } from '../shared/settings/sources/load.ts';
import { CliError } from './cli-error.ts';
import type { CommandContext } from './command.ts';

/** The settings of a command. `file` takes precedence over `--conf`. */
export function settingsOf(context: CommandContext, file?: string): LoadedSettings {
  const { options } = context.arguments;
  const flags: Record<string, string> = flagsOf(context);
  if (typeof options['prefix'] === 'string') flags['prefix'] = options['prefix'];
  const conf = file ?? options['conf'];
  return loadSettings({ flags, env: context.env, cwd: context.cwd, ...(typeof conf === 'string' && { conf }) });
}

/** The settings among the options of a command. */
export function flagsOf({ arguments: { settings } }: CommandContext): Record<string, string> {
  const named = Object.entries(settings);
  return Object.fromEntries(named.map(([name, value]) => [name, value === true ? bareValue(name) : value]));
}

/** A switch needs no value; any other setting does. Unknown names are refused when the settings are loaded. */
function bareValue(flag: string): string {
  const name = findSetting(flag.replaceAll('-', '_'));
  if (name === null) return '';
  const { default: value } = definitions[name];
  if (value !== 'on' && value !== 'off') throw new CliError(`option --${flag} needs a value`);
  return 'on';
}
