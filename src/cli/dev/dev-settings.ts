import { resolve } from 'node:path';
import { findSetting } from '../../shared/settings/schema.ts';
import { type LoadedSettings, loadSettings } from '../../shared/settings/sources/load.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { flagsOf } from '../settings-of.ts';

/** What a development gateway has where nothing else is set. */
const defaults: Readonly<Record<string, string>> = {
  proxy_listen: '127.0.0.1:8000',
  status_listen: 'off',
  nginx_worker_processes: '1',
  log_level: 'info',
};

/** Decided by the command: a shell that is set up for a production node must not lead to its database. */
const fixed = [
  'database',
  'role',
  'declarative_config',
  'declarative_config_string',
  'declarative_config_watch',
] as const;

/**
 * The settings of `dev`: flags, environment and `--conf` as usual, but no settings file of a default path, and never a database.
 * `plugins`: entries in addition to those of the setting.
 */
export function devSettings(context: CommandContext, prefix: string, plugins: readonly string[]): LoadedSettings {
  const { options } = context.arguments;
  const flags = flagsOf(context);
  for (const name of Object.keys(flags)) {
    const setting = settingOf(name);
    if (!fixed.some((one) => one === setting)) continue;
    const hint = setting === 'declarative_config' ? ': use --config' : '';
    throw new CliError(`sluicegate dev chooses ${setting} itself${hint}`);
  }
  const { conf, config } = options;
  const load = (own: Readonly<Record<string, string>>, given = flags): LoadedSettings =>
    loadSettings({
      flags: { ...given, ...own },
      env: context.env,
      cwd: context.cwd,
      defaults,
      conf: typeof conf === 'string' ? conf : null,
    });
  const chosen = {
    prefix,
    database: 'off',
    role: 'traditional',
    declarative_config: typeof config === 'string' ? resolve(context.cwd, config) : '',
    declarative_config_string: '',
    declarative_config_watch: typeof config === 'string' ? 'on' : 'off',
  };
  const { settings } = load(chosen);
  const entries = [...new Set([...settings.plugins, ...plugins])];
  const others = Object.entries(flags).filter(([name]) => settingOf(name) !== 'plugins');
  return load({ ...chosen, plugins: entries.join(',') }, Object.fromEntries(others));
}

function settingOf(flag: string): string | null {
  return findSetting(flag.replaceAll('-', '_'));
}
