import { dirname } from 'node:path';
import { publicSettings } from '../public.ts';
import { resolveReference } from '../reference.ts';
import type { SettingName, Values } from '../schema.ts';
import { definitions, settingNames } from '../schema.ts';
import type { Settings } from '../settings.ts';
import { SettingsError } from '../settings-error.ts';
import { buildSettings } from './build.ts';
import type { Environment } from './environment-layer.ts';
import { layerFromEnvironment } from './environment-layer.ts';
import { findConfFile, layerFromFile } from './file-layer.ts';
import type { Layer, Written } from './layer.ts';
import { layerFromCode, layerFromFlags } from './layer.ts';
import { settingsWarnings } from './warnings.ts';

export interface SettingSources {
  /** Command-line options by name without the dashes: `{ 'log-level': 'debug' }`. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Environment;
  /** The file of `-c`; without it the default paths are searched. Null: no file is read. */
  readonly conf?: string | null;
  /** By name, from code. Where two sources have a setting, this one wins. */
  readonly given?: Readonly<Record<string, string>>;
  /** What a command takes for settings that no source names, by name. Default: what each definition says. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Where relative paths start. Default: the current directory. */
  readonly cwd?: string;
}

export interface LoadedSettings {
  readonly settings: Settings;
  /** Lines to log at start. */
  readonly warnings: readonly string[];
  /** The file that was read, or null. */
  readonly file: string | null;
}

/**
 * Loads the settings: defaults, then file, then environment, then flags; later sources win. Throws a `SettingsError`.
 */
export function loadSettings(sources: SettingSources = {}): LoadedSettings {
  const cwd = sources.cwd ?? process.cwd();
  const env = sources.env ?? {};
  const warnings: string[] = [];
  const file = sources.conf === null ? null : findConfFile(sources.conf, cwd);
  const ofFile: Layer = file === null ? new Map() : layerFromFile(file, warnings);
  const layers: readonly Layer[] = [
    layerFromFlags(sources.defaults ?? {}),
    ofFile,
    layerFromEnvironment(env, warnings),
    layerFromFlags(sources.flags ?? {}),
    layerFromCode(sources.given ?? {}),
  ];

  const texts: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const invalid: SettingsError[] = [];
  for (const name of settingNames) {
    const written = effective(name, layers);
    const text = written === null ? definitions[name].default : written.text.trim();
    try {
      const resolved = resolveReference(name, text, env);
      texts[name] = resolved;
      values[name] = parse(name, resolved, written);
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      invalid.push(error);
    }
  }
  const [first, ...others] = invalid;
  if (first !== undefined) throw others.length === 0 ? first : severalInvalid(invalid);
  // A data plane has no other database, so its default is not that of other nodes.
  if (values['role'] === 'data_plane' && effective('database', layers) === null) values['database'] = 'off';
  const shown = publicSettings(values, texts);
  if (effective('admin_gui_listen', layers) === null) makeOptional(values as Values);
  const plugins = effective('plugins', layers);
  const pluginFolder = file !== null && plugins !== null && plugins === ofFile.get('plugins') ? dirname(file) : null;
  const settings = { ...buildSettings(values as Values, shown, cwd), pluginFolder };
  warnings.push(...settingsWarnings(settings));
  return { settings, warnings, file };
}

/** Nobody chose the address of the dashboard: what else uses it comes first. */
function makeOptional(values: Values): void {
  const entries = values.admin_gui_listen.map((entry) => ({
    ...entry,
    address: { ...entry.address, optional: true },
  }));
  Object.assign(values, { admin_gui_listen: entries });
}

function effective(name: SettingName, layers: readonly Layer[]): Written | null {
  return layers.findLast((layer) => layer.has(name))?.get(name) ?? null;
}

function severalInvalid(errors: readonly SettingsError[]): SettingsError {
  return new SettingsError(
    [`${errors.length} settings are invalid:`, ...errors.map(({ message }) => message)].join('\n  '),
  );
}

function parse(name: SettingName, text: string, written: Written | null): unknown {
  const definition = definitions[name];
  try {
    return definition.kind.parse(name, text);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const message = definition.secret && text !== '' ? error.message.replaceAll(text, '******') : error.message;
    throw new SettingsError(written === null ? message : `${message} (set by ${written.origin})`);
  }
}
